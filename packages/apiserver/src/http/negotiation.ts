import { notAcceptable } from "@meridian/kube";
import { parseAccept } from "./media-type.ts";

/** The shape in which a client wants objects and lists (API concepts, "Alternate representations"). */
export type Representation = "object" | "table" | "partial";

/** How to answer: the syntax and the shape. */
export interface AcceptedForm {
  readonly syntax: "json" | "yaml";
  readonly representation: Representation;
  /** Version of `meta.k8s.io` for tables and partial objects. */
  readonly metaVersion: "v1" | "v1beta1";
  /** The `Content-Type` of the answer. */
  readonly contentType: string;
}

/** Plain JSON: for errors and for clients that accept anything. */
export const plainJson: AcceptedForm = {
  syntax: "json",
  representation: "object",
  metaVersion: "v1",
  contentType: "application/json",
};

/**
 * Picks the first form of the `Accept` header that this server has. Binary forms are passed over: a client that also
 * accepts JSON, or anything, gets JSON.
 *
 * @throws StatusError 406 NotAcceptable.
 */
export function negotiate(accept: string | undefined, tableAvailable: boolean): AcceptedForm {
  for (const { type, parameters } of parseAccept(accept)) {
    const syntax = syntaxes.get(type);
    if (syntax === undefined) continue;
    const contentType = `application/${syntax}`;
    const as = parameters.get("as");
    if (as === undefined) return { ...plainJson, syntax, contentType };
    const representation = representations.get(as);
    const metaVersion = parameters.get("v");
    if (representation === undefined || parameters.get("g") !== "meta.k8s.io") continue;
    if (metaVersion !== "v1" && metaVersion !== "v1beta1") continue;
    if (representation === "table" && !tableAvailable) continue;
    return { syntax, representation, metaVersion, contentType };
  }
  throw notAcceptable(["application/json", "application/yaml"]);
}

const syntaxes = new Map<string, "json" | "yaml">([
  ["application/json", "json"],
  ["application/*", "json"],
  ["*/*", "json"],
  ["application/yaml", "yaml"],
]);

const representations = new Map<string, Representation>([
  ["Table", "table"],
  ["PartialObjectMetadata", "partial"],
  ["PartialObjectMetadataList", "partial"],
]);
