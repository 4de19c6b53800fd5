import type { Tag } from "./fleet-map.ts";

/** The key by which clusters transfer each other's views: the same in every cluster that has it. */
export const fleetKeyText: string = keyFile("meridian-peers", "bWVyaWRpYW4gc2ltdWxhdGVkIGZsZWV0IGtleSAwMQ==");

/** The key by which a cluster writes into the parent zones, as a key file has it. */
export function parentKeyText(tag: Tag): string {
  return keyFile(parentKeyName(tag), btoa(`the key of ${tag} for its parent zones`));
}

export function parentKeyName(tag: Tag): string {
  return `${tag}-key`;
}

function keyFile(name: string, secret: string): string {
  return `key "${name}" { algorithm hmac-sha256; secret "${secret}"; };`;
}
