import { join } from "node:path";
import { DnsError, parseTsigKeyFile } from "@meridian/dns";
import { peerKeyName } from "@meridian/gslb";
import type { Random } from "@meridian/runtime";
import { tsigKeyText } from "../dns/tsig-key-text.ts";
import { MeridianError } from "../meridian-error.ts";
import { readTextIfPresent, replacePrivateFile } from "./private-file.ts";

/** The file of the fleet's TSIG key, in the data folder and in that of each cluster. */
export const peerKeyFileName = "peers.key";

/**
 * The TSIG key by which the clusters of a data folder prove to each other who they are, as a key file: the one there, or a new
 * random one.
 *
 * @throws MeridianError `BadFile`
 */
export async function preparePeerKey(random: Random, folder: string): Promise<string> {
  const path = join(folder, peerKeyFileName);
  const stored = await readTextIfPresent(path);
  if (stored !== undefined && stored.trim() !== "") {
    if (isPeerKey(stored)) return stored;
    throw new MeridianError(
      "BadFile",
      `${path} holds no TSIG key ${peerKeyName}; restore it, or remove it to have a new one made`,
    );
  }
  const created = `${tsigKeyText(random, { name: peerKeyName, algorithm: "hmac-sha256" })}\n`;
  await replacePrivateFile(path, created);
  return created;
}

function isPeerKey(text: string): boolean {
  try {
    return parseTsigKeyFile(text).some(({ name }) => name === peerKeyName);
  } catch (error) {
    if (error instanceof DnsError) return false;
    throw error;
  }
}
