import { ControllerError } from "../../controller-error.ts";

/** The error of a kubeconfig that cannot be used, with what is wrong and in which file. */
export function invalidKubeconfig(
  what: string,
  from: { readonly path?: string; readonly cause?: unknown } = {},
): ControllerError {
  const file = from.path === undefined ? "" : ` ${from.path}`;
  return new ControllerError(
    "InvalidKubeconfig",
    `cannot use the kubeconfig${file}: ${what}`,
    from.cause === undefined ? {} : { cause: from.cause },
  );
}
