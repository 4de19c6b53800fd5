import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { foldNameText, generateKey, keyToFiles } from "@meridian/dns";
import { lastText, type Command } from "../cli/command.ts";
import { OptionReader } from "../cli/option-values.ts";
import type { Terminal } from "../cli/terminal.ts";
import { tsigKeyText, tsigSecretOctets, type TsigKeyAlgorithm } from "../dns/tsig-key-text.ts";
import { systemCodeOf } from "../fleet/private-file.ts";
import { MeridianError } from "../meridian-error.ts";
import { dnsRuntime } from "./dns.ts";

const algorithms = Object.keys(tsigSecretOctets) as TsigKeyAlgorithm[];

/** `meridian dns keygen`: keys that zones are signed with, and keys that messages are signed with. */
export const dnsKeygenCommand: Command = {
  words: ["dns", "keygen"],
  positionals: [],
  summary: "make a DNSSEC key for a zone, or with --tsig a key for transfers and updates",
  details: [
    "With --zone, writes the two files of a key (ECDSA P-256) as BIND's tools do, and prints the path without .key and",
    ".private. With --tsig, prints a key file as tsig-keygen does: > it into a file that only you may read.",
  ],
  options: [
    { name: "zone", value: "NAME", help: "the zone that the key shall sign" },
    { name: "folder", value: "DIR", help: "where to write the files; default: here" },
    { name: "zsk", help: "a key that signs only data, not the keys; default: one that signs everything" },
    { name: "tsig", value: "NAME", help: "print a TSIG key of this name" },
    {
      name: "algorithm",
      value: "NAME",
      help: `of the TSIG key; ${algorithms.join(", ")}; default hmac-sha256`,
    },
  ],
  async run(invocation, terminal) {
    const reader = new OptionReader();
    const zone = lastText(invocation, "zone");
    const tsig = lastText(invocation, "tsig");
    if ((zone === undefined) === (tsig === undefined))
      reader.problem("use either --zone NAME or --tsig NAME");
    const algorithm = reader.oneOf<TsigKeyAlgorithm>(lastText(invocation, "algorithm"), {
      option: "--algorithm",
      values: algorithms,
      fallback: "hmac-sha256",
    });
    reader.finish();
    if (tsig !== undefined)
      terminal.print(tsigKeyText(dnsRuntime(terminal).random, { name: tsig, algorithm }));
    else
      terminal.print(
        await writeZoneKey(terminal, {
          zone: zone!,
          folder: lastText(invocation, "folder") ?? ".",
          secureEntryPoint: !invocation.switches.has("zsk"),
        }),
      );
    return 0;
  },
};

async function writeZoneKey(
  terminal: Terminal,
  key: { readonly zone: string; readonly folder: string; readonly secureEntryPoint: boolean },
): Promise<string> {
  const { random, clock } = dnsRuntime(terminal);
  const now = Math.floor(clock.now() / 1000);
  const { secureEntryPoint, folder } = key;
  const made = generateKey(random, { secureEntryPoint, times: { publish: now, activate: now } });
  const { baseName, publicText, privateText } = keyToFiles(foldNameText(key.zone), made);
  try {
    await mkdir(folder, { recursive: true });
    const options = { mode: 0o600, flag: "wx" };
    await writeFile(join(folder, `${baseName}.private`), privateText, options);
    await writeFile(join(folder, `${baseName}.key`), publicText, options);
  } catch (error) {
    throw new MeridianError(
      "FolderUnusable",
      `cannot write the key into ${folder} (${systemCodeOf(error)}); use another folder with --folder`,
      { cause: error },
    );
  }
  return join(folder, baseName);
}
