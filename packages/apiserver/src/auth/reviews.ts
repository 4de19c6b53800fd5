import { badRequest, isJsonObject, type JsonObject, methodNotAllowed, ownField } from "@meridian/kube";
import type { HttpRequest, HttpResponse } from "@meridian/runtime";
import type { ApiPath } from "../http/api-path.ts";
import { decodeBody } from "../http/body.ts";
import { negotiate } from "../http/negotiation.ts";
import { respond } from "../http/respond.ts";
import type { IdentifyToken } from "./authenticate.ts";
import type { Authorizer, RequestAttributes, UserInfo } from "./identity.ts";

/** A resource that is asked, never stored: the answer is the question with its status filled in. */
export interface Review {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const authorization = { group: "authorization.k8s.io", version: "v1" };

/** The reviews that are served. */
export const reviews: readonly Review[] = [
  {
    group: "authentication.k8s.io",
    version: "v1",
    plural: "selfsubjectreviews",
    singular: "selfsubjectreview",
    kind: "SelfSubjectReview",
    namespaced: false,
  },
  {
    group: "authentication.k8s.io",
    version: "v1",
    plural: "tokenreviews",
    singular: "tokenreview",
    kind: "TokenReview",
    namespaced: false,
  },
  {
    ...authorization,
    plural: "localsubjectaccessreviews",
    singular: "localsubjectaccessreview",
    kind: "LocalSubjectAccessReview",
    namespaced: true,
  },
  {
    ...authorization,
    plural: "selfsubjectaccessreviews",
    singular: "selfsubjectaccessreview",
    kind: "SelfSubjectAccessReview",
    namespaced: false,
  },
  {
    ...authorization,
    plural: "selfsubjectrulesreviews",
    singular: "selfsubjectrulesreview",
    kind: "SelfSubjectRulesReview",
    namespaced: false,
  },
  {
    ...authorization,
    plural: "subjectaccessreviews",
    singular: "subjectaccessreview",
    kind: "SubjectAccessReview",
    namespaced: false,
  },
];

/** The review that a path names. */
export function reviewOf(path: Extract<ApiPath, { kind: "resource" }>): Review | undefined {
  return reviews.find(({ group, plural, version }) => {
    return group === path.group && version === path.version && plural === path.plural;
  });
}

/** Who is asked. */
export interface Reviewers {
  readonly authorizer: Authorizer;
  readonly identify: IdentifyToken;
}

/** Answers a review. @throws StatusError 400, 405, 406. */
export function serveReview(
  front: Reviewers,
  http: HttpRequest,
  asked: {
    readonly review: Review;
    readonly user: UserInfo;
    readonly path: Extract<ApiPath, { kind: "resource" }>;
  },
): HttpResponse {
  const { path, review, user } = asked;
  const { group, kind, plural, version } = review;
  if (http.method !== "POST" || path.name !== undefined) {
    throw methodNotAllowed({ group, plural }, http.method.toLowerCase());
  }
  const form = negotiate(http.headers["accept"], false);
  const body = decodeBody(http).value;
  if (!isJsonObject(body)) throw badRequest("the body of the request must be a JSON object");
  const spec = ownField(body, "spec") ?? {};
  if (!isJsonObject(spec)) throw badRequest("spec must be an object");
  const status = statusOf(front, { review, user, spec });
  return respond(
    201,
    {
      kind,
      apiVersion: `${group}/${version}`,
      metadata: {},
      ...(kind !== "SelfSubjectReview" && { spec }),
      status,
    },
    { form },
  );
}

interface Question {
  readonly review: Review;
  readonly user: UserInfo;
  readonly spec: JsonObject;
}

function statusOf({ authorizer, identify }: Reviewers, { review, spec, user }: Question): unknown {
  switch (review.kind) {
    case "SelfSubjectReview":
      return { userInfo: shownUser(user) };
    case "TokenReview": {
      const token = textOf(spec, "token");
      if (token === "") throw badRequest("token is required for TokenReview in authentication");
      const owner = identify(token);
      return owner === undefined ? { user: {} } : { authenticated: true, user: shownUser(owner) };
    }
    case "SelfSubjectRulesReview":
      return rulesOf(authorizer, user);
    case "SelfSubjectAccessReview":
      return decide(authorizer, user, spec);
    default:
      return decide(authorizer, subjectOf(spec), spec);
  }
}

function shownUser({ groups, uid, username }: UserInfo): unknown {
  return { username, ...(uid !== undefined && { uid }), groups };
}

function decide(authorizer: Authorizer, user: UserInfo, spec: JsonObject): unknown {
  const { allowed, reason } = authorizer.authorize(user, attributesOf(spec));
  return { allowed, ...(reason !== undefined && { reason }) };
}

/** An authorizer is a function, not a list of rules: all it can say here is whether it allows everything. */
function rulesOf(authorizer: Authorizer, user: UserInfo): unknown {
  const everything: RequestAttributes = {
    kind: "resource",
    verb: "*",
    group: "*",
    version: "*",
    resource: "*",
  };
  if (!authorizer.authorize(user, everything).allowed) {
    return {
      resourceRules: [],
      nonResourceRules: [],
      incomplete: true,
      evaluationError: "this authorizer cannot list its rules",
    };
  }
  return {
    resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
    nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
    incomplete: false,
  };
}

function attributesOf(spec: JsonObject): RequestAttributes {
  const resource = ownField(spec, "resourceAttributes");
  const path = ownField(spec, "nonResourceAttributes");
  if (isJsonObject(resource) && path === undefined) {
    const subresource = textOf(resource, "subresource");
    const namespace = textOf(resource, "namespace");
    const name = textOf(resource, "name");
    return {
      kind: "resource",
      verb: textOf(resource, "verb"),
      group: textOf(resource, "group"),
      version: textOf(resource, "version"),
      resource: textOf(resource, "resource"),
      ...(subresource !== "" && { subresource }),
      ...(namespace !== "" && { namespace }),
      ...(name !== "" && { name }),
    };
  }
  if (isJsonObject(path) && resource === undefined) {
    return { kind: "path", verb: textOf(path, "verb"), path: textOf(path, "path") };
  }
  throw badRequest("exactly one of spec.resourceAttributes and spec.nonResourceAttributes must be given");
}

function subjectOf(spec: JsonObject): UserInfo {
  const groups = ownField(spec, "groups");
  return {
    username: textOf(spec, "user"),
    groups: Array.isArray(groups) ? groups.filter((group): group is string => typeof group === "string") : [],
  };
}

function textOf(object: JsonObject, field: string): string {
  const value = ownField(object, field);
  return typeof value === "string" ? value : "";
}
