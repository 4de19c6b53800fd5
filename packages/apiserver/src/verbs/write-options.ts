import { invalid, forbiddenField, invalidValue, notSupported, required } from "@meridian/kube";
import type { StatusCause } from "@meridian/kube";
import type { ApiRequest } from "../http/api-request.ts";
import { isTrue } from "../http/query-flag.ts";

/** What the query of a create, update or patch asks for. */
export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
  /** Who the managed fields belong to. */
  readonly fieldManager: string;
  /** Apply only: take fields over from other managers. */
  readonly force: boolean;
}

/** @throws StatusError 422 naming each option that is wrong. */
export function parseWriteOptions(
  request: ApiRequest,
  verb: "create" | "update" | "patch" | "apply",
): WriteOptions {
  const { query } = request;
  const causes: StatusCause[] = [];
  const dryRun = query.getAll("dryRun").filter((value) => value !== "");
  if (dryRun.some((value) => value !== "All")) causes.push(notSupported("dryRun", dryRun.join(","), ["All"]));

  const fieldValidation = query.get("fieldValidation") || "Warn";
  if (!isFieldValidation(fieldValidation)) {
    causes.push(notSupported("fieldValidation", fieldValidation, ["Ignore", "Strict", "Warn"]));
  }

  const named = query.get("fieldManager") ?? "";
  if (named.length > fieldManagerCharactersMax) {
    causes.push(
      invalidValue("fieldManager", named, `may not be longer than ${fieldManagerCharactersMax} characters`),
    );
  } else if (/[^\P{C}]|\p{Zl}|\p{Zp}/u.test(named)) {
    causes.push(invalidValue("fieldManager", named, "should only contain printable characters"));
  }
  if (verb === "apply" && named === "") causes.push(required("fieldManager", "is required for apply patch"));

  const force = query.get("force");
  if (force !== null && verb !== "apply")
    causes.push(forbiddenField("force", "may not be specified for non-apply patch"));

  if (causes.length > 0) {
    const kind = verb === "create" ? "CreateOptions" : verb === "update" ? "UpdateOptions" : "PatchOptions";
    throw invalid({ group: "meta.k8s.io", kind }, "", causes);
  }
  return {
    dryRun: dryRun.length > 0,
    fieldValidation: fieldValidation as WriteOptions["fieldValidation"],
    fieldManager: fieldManagerOf(request),
    force: isTrue(force),
  };
}

const fieldManagerCharactersMax = 128;

function isFieldValidation(text: string): text is WriteOptions["fieldValidation"] {
  return text === "Ignore" || text === "Warn" || text === "Strict";
}

/** Whom a write counts for: the manager that the query names, else the program that sent it. */
export function fieldManagerOf(request: Pick<ApiRequest, "http" | "query">): string {
  const named = request.query.get("fieldManager") ?? "";
  return named !== "" ? named : managerFromUserAgent(request.http.headers["user-agent"]);
}

function managerFromUserAgent(userAgent: string | undefined): string {
  const name = (userAgent ?? "").split("/")[0]?.slice(0, fieldManagerCharactersMax) ?? "";
  return name === "" ? "unknown" : name;
}
