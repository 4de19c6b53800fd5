export { createApiServer, requestBodyBytesMax } from "./api-server.ts";
export type { ApiServer, ApiServerOptions, BackgroundController } from "./api-server.ts";
export type {
  AuthorizationDecision,
  Authorizer,
  RequestAttributes,
  TokenIdentity,
  UserInfo,
} from "./auth/identity.ts";
