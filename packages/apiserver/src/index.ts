export { createApiServer } from "./api-server.ts";
export type { ApiServer, ApiServerOptions } from "./api-server.ts";
export { requestBodyBytesMax } from "./http/body.ts";
export type { BackgroundController } from "./background/start-background.ts";
export type {
  AuthorizationDecision,
  Authorizer,
  RequestAttributes,
  TokenIdentity,
  UserInfo,
} from "./auth/identity.ts";

export { StorageError, defaultRetention, openLmdbStorage, openMemoryStorage } from "./storage/index.ts";
export type {
  LmdbStorageOptions,
  MemoryStorageOptions,
  RetentionPolicy,
  Storage,
  StorageErrorCode,
} from "./storage/index.ts";
