import type { Pod } from "@meridian/kube";

/** Where all Pods of the lab are; it has no other kind. */
export const labNamespace = "default";

/** What its Pods are called: `web-1` and so on. */
export const podPrefix = "web";

/** A Pod that a real API server takes as well. */
export function newPod(name: string): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: labNamespace, labels: { app: podPrefix } },
    spec: { containers: [{ name: "web", image: "web:1" }] },
  };
}

/** What the page shows of a Pod: the image of its first container. */
export function valueOf(pod: Pod): string {
  return pod.spec?.containers?.[0]?.image ?? "";
}

/** The Pod with the next value: `web:1` becomes `web:2`. */
export function withNextValue(pod: Pod): Pod {
  const image = valueOf(pod);
  const [, name = image, number = "0"] = /^(.*?):(\d{1,6})$/.exec(image) ?? [];
  const [first, ...others] = pod.spec?.containers ?? [];
  const changed = { ...(first ?? { name: "web" }), image: `${name}:${Number(number) + 1}` };
  return { ...pod, spec: { ...pod.spec, containers: [changed, ...others] } };
}

/** `web-N` with the number after the highest that is taken, so that it is taken for no other Pod, past or present. */
export function nextName(taken: Iterable<string>): string {
  const numbers = Array.from(taken, (name) => Number(/^web-(\d{1,6})$/.exec(name)?.[1] ?? 0));
  return `${podPrefix}-${Math.max(0, ...numbers) + 1}`;
}

/** The lowest of `web-1`, `web-2` and so on that is not taken. */
export function lowestFreeName(taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const name = `${podPrefix}-${number}`;
    if (!taken.has(name)) return name;
  }
}
