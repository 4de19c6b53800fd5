import { isIP } from "node:net";
import type { Endpoint } from "@meridian/runtime";
import type { OptionReader } from "./option-values.ts";

/** An `ADDR:PORT` or `[ADDR]:PORT` of the command line; what is wrong is reported to `reader`. */
export function parseEndpoint(text: string, reader: OptionReader, option = "--listen"): Endpoint | undefined {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? "";
  if (isIP(address) !== 0 && Number(port) <= 65_535) return { address, port: Number(port) };
  reader.problem(
    `${option} ${text}: must be an address and a port, for example 127.0.0.1:5300 or [::1]:5300`,
  );
  return undefined;
}
