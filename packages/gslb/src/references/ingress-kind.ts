import type { Ingress } from "@meridian/kube";
import type { Server } from "../decide/gslb-snapshot.ts";
import { ingressObjects } from "../resources/core-kinds.ts";
import { named, reachedBy, type ReferenceKind } from "./reference-kind.ts";
import { serverList } from "./server-list.ts";

/** An Ingress: its rules name the hosts and their Services. */
export const ingressKind: ReferenceKind = {
  objects: ingressObjects,
  servers: (object) => named(serversOfIngress(object)),
  reachedAt: (object) => reachedBy((object as Ingress).status?.loadBalancer?.ingress),
};

/** One server per host, in the order of the rules; the Services of all rules that name the host. */
export function serversOfIngress(ingress: Pick<Ingress, "metadata" | "spec">): readonly Server[] {
  const namespace = ingress.metadata.namespace ?? "";
  const rules = ingress.spec?.rules ?? [];
  return serverList(
    rules.map(({ host = "", http }) => ({
      host,
      services: (http?.paths ?? []).flatMap(({ backend }) => {
        const name = backend.service?.name ?? "";
        return name === "" ? [] : [{ namespace, name }];
      }),
    })),
  );
}
