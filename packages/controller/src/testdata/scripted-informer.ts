import type { ConfigMap } from "@meridian/kube";
import { KubeClient } from "../client/kube-client.ts";
import { Informer } from "../informer/informer.ts";
import type { InformerOptions } from "../informer/informer.ts";
import { configMaps } from "./fleet.ts";
import { json, scriptedWorld } from "./scripted-http.ts";
import type { BodyStep, ScriptedAnswer, ScriptedWorld } from "./scripted-http.ts";

/** An informer whose server does what a script says, and what a handler of it was told. */
export interface ScriptedInformer extends ScriptedWorld {
  readonly informer: Informer<ConfigMap>;
  /** `add a@5`, `update a@5 a@6`, `delete a@6`, each with ` initial`, ` resync` or ` missed` behind it where it is. */
  readonly told: string[];
  /** `list 0`, `list ""`, `list next page`, `watch 5`, in the order in which they were asked for. */
  readonly asked: () => readonly string[];
  readonly pass: (ms: number) => Promise<void>;
  /** Names with versions, as the copy has them. */
  readonly copy: () => readonly string[];
  readonly stop: () => Promise<void>;
}

/** Follows a server that gives these answers in turn, and then a watch that stays open. */
export function scriptedInformer(
  answers: readonly (ScriptedAnswer | Error)[],
  options: Partial<InformerOptions<ConfigMap>> = {},
): ScriptedInformer {
  const world = scriptedWorld((_, count) => answers[count] ?? { open: true });
  const { simulation } = world;
  const informer = new Informer<ConfigMap>(world.runtime, {
    client: new KubeClient(world.runtime, { origin: "https://h" }),
    type: configMaps,
    ...options,
  });
  const told: string[] = [];
  const nameOf = ({ metadata }: ConfigMap): string => `${metadata.name}@${metadata.resourceVersion}`;
  informer.addHandler({
    onAdd: (object, { initial }) => void told.push(`add ${nameOf(object)}${initial ? " initial" : ""}`),
    onUpdate: (old, object, { resync }) =>
      void told.push(`update ${nameOf(old)} ${nameOf(object)}${resync ? " resync" : ""}`),
    onDelete: (object, { missed }) => void told.push(`delete ${nameOf(object)}${missed ? " missed" : ""}`),
  });
  const stopping = new AbortController();
  const running = informer.run(stopping.signal);
  return {
    ...world,
    informer,
    told,
    asked: () =>
      world.queries("configmaps").map((query) => {
        const version = query["resourceVersion"] ?? '""';
        const what = query["watch"] === undefined ? "list" : "watch";
        return `${what} ${query["continue"] === undefined ? version : "next page"}`;
      }),
    pass: (ms) => simulation.run({ untilMs: simulation.nowMs + ms }),
    copy: () => informer.lister.list().map(nameOf).sort(),
    stop: () => {
      stopping.abort(new Error("stopped"));
      return simulation.complete(running);
    },
  };
}

/** A list at a version; items are written `name@version`, with the name as uid unless `name@version#uid` says another. */
export function listOf(version: string, items: readonly string[], continueToken?: string): ScriptedAnswer {
  return json({
    kind: "ConfigMapList",
    apiVersion: "v1",
    metadata: { resourceVersion: version, ...(continueToken !== undefined && { continue: continueToken }) },
    items: items.map(objectOf),
  });
}

/** One event of a watch. */
export function eventOf(type: string, item: string): BodyStep {
  return { send: { type, object: { kind: "ConfigMap", apiVersion: "v1", ...objectOf(item) } } };
}

/** A bookmark; `initialEnd`: the one that ends the initial state of a stream. */
export function bookmarkOf(version: string, initialEnd = false): BodyStep {
  const annotations = { "k8s.io/initial-events-end": "true" };
  const metadata = { resourceVersion: version, ...(initialEnd && { annotations }) };
  return { send: { type: "BOOKMARK", object: { kind: "ConfigMap", apiVersion: "v1", metadata } } };
}

/** A Status of a failure. */
export function failureStatus(code: number, reason: string, message = ""): object {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, reason, message };
}

/** A watch that ends by itself after a while. */
export function watchOf(...steps: readonly BodyStep[]): ScriptedAnswer {
  return { steps: [...steps, { waitMs: 60_000 }] };
}

function objectOf(item: string): object {
  const [state = "", uid] = item.split("#");
  const [name = "", version = ""] = state.split("@");
  return { metadata: { name, namespace: "n", uid: uid ?? name, resourceVersion: version } };
}
