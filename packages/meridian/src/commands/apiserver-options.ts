import { isIP } from "node:net";
import { resolve } from "node:path";
import type { BackgroundController } from "@meridian/apiserver";
import { lastText, type Invocation } from "../cli/command.ts";
import { OptionReader } from "../cli/option-values.ts";
import { parseStorageKind } from "../cli/storage-option.ts";
import type { StorageKind } from "../fleet/child-protocol.ts";

/** The background controllers that can be switched off. */
export const backgroundControllers: readonly BackgroundController[] = [
  "garbage-collection",
  "namespaces",
  "event-expiry",
];

/** What `meridian apiserver` was asked for. */
export interface ApiserverOptions {
  /** Absent: a temporary one. */
  readonly folder?: string;
  readonly storage: StorageKind;
  readonly address: string;
  readonly port: number;
  readonly tokenFile?: string;
  readonly disabledControllers: readonly BackgroundController[];
}

/** Understands the options of `meridian apiserver`. @throws MeridianError `Usage` with every problem */
export function parseApiserverOptions(invocation: Invocation): ApiserverOptions {
  const reader = new OptionReader();
  const folder = lastText(invocation, "data");
  const ephemeral = invocation.switches.has("ephemeral");
  if (folder?.trim() === "") reader.problem("--data is empty; name a folder");
  if ((folder === undefined) !== ephemeral) reader.problem("give either --data DIR or --ephemeral");
  const storage = parseStorageKind(invocation, reader);
  const address = lastText(invocation, "address") ?? "127.0.0.1";
  if (isIP(address) === 0)
    reader.problem(`--address ${address}: must be an IP address, for example 127.0.0.1`);
  const port = reader.integer(lastText(invocation, "port"), {
    option: "--port",
    min: 0,
    max: 65_535,
    fallback: 6443,
  });
  const tokenFile = lastText(invocation, "token-file");
  const disabledControllers = (invocation.text.get("disable-controller") ?? []).map((text) =>
    reader.oneOf<BackgroundController>(text, {
      option: "--disable-controller",
      values: backgroundControllers,
      fallback: "garbage-collection",
    }),
  );
  reader.finish();
  return {
    storage,
    address,
    port,
    disabledControllers,
    ...(folder === undefined ? {} : { folder: resolve(folder) }),
    ...(tokenFile === undefined ? {} : { tokenFile }),
  };
}
