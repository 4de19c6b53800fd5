import {
  badRequest,
  forbiddenField,
  invalid,
  isJsonObject,
  notSupported,
  type StatusCause,
  jsonText,
} from "@meridian/kube";
import type { ApiRequest } from "../http/api-request.ts";
import { decodeBody } from "../http/body.ts";
import { isTrue } from "../http/query-flag.ts";

export type PropagationPolicy = "Foreground" | "Background" | "Orphan";

/** How to delete (meta.k8s.io DeleteOptions). */
export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: PropagationPolicy;
  /** The client asked by `orphanDependents=false`, and expects 202 while the object still goes. */
  readonly acceptedWhileGoing?: boolean;
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string };
}

/** Deletes at once, if nothing holds the object. */
export const plainDelete: DeleteOptions = { dryRun: false, preconditions: {} };

/**
 * Reads the options from the body, or from the query when there is none.
 *
 * @throws StatusError 400, 415, 422.
 */
export function parseDeleteOptions(request: ApiRequest): DeleteOptions {
  const given = request.http.body.length > 0 ? fromBody(request) : fromQuery(request.query);
  const { dryRun, gracePeriodSeconds, orphanDependents, propagationPolicy } = given;
  const causes: StatusCause[] = [];
  if (dryRun.some((value) => value !== "All")) causes.push(notSupported("dryRun", dryRun.join(","), ["All"]));
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    causes.push(
      forbiddenField("propagationPolicy", "orphanDependents and deletionPropagation cannot be both set"),
    );
  }
  if (propagationPolicy !== undefined && !isPolicy(propagationPolicy)) {
    causes.push(notSupported("propagationPolicy", propagationPolicy, [...policies, "nil"]));
  }
  if (causes.length > 0) throw invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", causes);

  const policy =
    propagationPolicy ??
    (orphanDependents === undefined ? undefined : orphanDependents ? "Orphan" : "Background");
  return {
    dryRun: dryRun.length > 0,
    preconditions: given.preconditions,
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(policy !== undefined && { propagationPolicy: policy as PropagationPolicy }),
    ...(orphanDependents === false && { acceptedWhileGoing: true }),
  };
}

const policies: readonly string[] = ["Foreground", "Background", "Orphan"];

function isPolicy(text: string): text is PropagationPolicy {
  return policies.includes(text);
}

interface GivenOptions {
  readonly dryRun: readonly string[];
  readonly gracePeriodSeconds: number | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly propagationPolicy: string | undefined;
  readonly preconditions: DeleteOptions["preconditions"];
}

function fromQuery(query: URLSearchParams): GivenOptions {
  const grace = query.get("gracePeriodSeconds");
  const orphan = query.get("orphanDependents");
  if (grace !== null && !/^-?\d{1,15}$/.test(grace))
    throw badRequest(`invalid gracePeriodSeconds "${grace}": use an integer`);
  return {
    dryRun: query.getAll("dryRun").filter((value) => value !== ""),
    gracePeriodSeconds: grace === null ? undefined : Number(grace),
    orphanDependents: orphan === null ? undefined : isTrue(orphan),
    propagationPolicy: query.get("propagationPolicy") ?? undefined,
    preconditions: {},
  };
}

function fromBody(request: ApiRequest): GivenOptions {
  const body = decodeBody(request.http).value;
  if (!isJsonObject(body)) throw badRequest("the body of a deletion must be DeleteOptions");
  const { kind } = body;
  if (kind !== undefined && kind !== "" && kind !== "DeleteOptions") {
    throw badRequest(
      `the kind in the data (${jsonText(kind)}) does not match the expected kind (DeleteOptions)`,
    );
  }
  const preconditions = body["preconditions"] ?? {};
  if (!isJsonObject(preconditions)) throw badRequest("preconditions must be an object");
  const dryRun = body["dryRun"] ?? [];
  if (!Array.isArray(dryRun) || dryRun.some((value) => typeof value !== "string")) {
    throw badRequest("dryRun must be an array of strings");
  }
  const uid = optional(preconditions["uid"], "string");
  const resourceVersion = optional(preconditions["resourceVersion"], "string");
  return {
    dryRun: dryRun as readonly string[],
    gracePeriodSeconds: optional(body["gracePeriodSeconds"], "number"),
    orphanDependents: optional(body["orphanDependents"], "boolean"),
    propagationPolicy: optional(body["propagationPolicy"], "string"),
    preconditions: {
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  };
}

interface Types {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
}

function optional<T extends keyof Types>(value: unknown, type: T): Types[T] | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== type) throw badRequest(`DeleteOptions: expected a ${type}, not ${jsonText(value)}`);
  return value as Types[T];
}
