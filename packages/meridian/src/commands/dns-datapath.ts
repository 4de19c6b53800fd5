import { availableParallelism } from "node:os";
import type { Authority } from "@meridian/dns";
import { UdpWorkers } from "@meridian/dns/workers";
import type { Runtime } from "@meridian/runtime";
import { mmsgAvailability } from "@meridian/runtime/node";
import { lastText, type Invocation, type OptionDefinition } from "../cli/command.ts";
import type { OptionReader } from "../cli/option-values.ts";
import { MeridianError } from "../meridian-error.ts";

/** How datagrams are answered: by threads with `recvmmsg`, by the main thread with plain `dgram`, or what there is. */
export interface DatapathOptions {
  readonly datapath: "auto" | "mmsg" | "dgram";
  /** Threads for each address that is listened on. */
  readonly workers: number;
}

export const datapathOptions: readonly OptionDefinition[] = [
  {
    name: "workers",
    value: "N",
    help: "threads that answer UDP, for each --listen; default: one less than cores, at least 1",
  },
  {
    name: "datapath",
    value: "auto|mmsg|dgram",
    help: "mmsg: threads with recvmmsg (Linux); dgram: the main thread; default auto: mmsg where it works",
  },
];

const threadsMax = 64;

export function parseDatapath(invocation: Invocation, reader: OptionReader): DatapathOptions {
  const listens = Math.max(1, invocation.text.get("listen")?.length ?? 1);
  const max = Math.max(1, Math.floor(threadsMax / listens));
  return {
    datapath: reader.oneOf(lastText(invocation, "datapath"), {
      option: "--datapath",
      values: ["auto", "mmsg", "dgram"],
      fallback: "auto",
    }),
    workers: reader.integer(lastText(invocation, "workers"), {
      option: "--workers",
      min: 1,
      max,
      fallback: Math.min(max, Math.max(1, availableParallelism() - 1)),
    }),
  };
}

/**
 * The threads that serve datagrams for `serveDns`; `undefined` where the runtime's own network does. Logs which it is,
 * and why.
 *
 * @throws MeridianError `StartFailed` where `mmsg` was asked for and does not work here
 */
export function openDatapath(
  runtime: Runtime,
  authority: Authority,
  options: DatapathOptions,
): UdpWorkers | undefined {
  const { log } = runtime;
  if (options.datapath === "dgram") {
    log.info("datagrams are answered by the main thread", { datapath: "dgram", reason: "asked for" });
    return undefined;
  }
  const availability = mmsgAvailability();
  if (availability.available) {
    return new UdpWorkers(runtime, { authority, threads: options.workers });
  }
  const { reason } = availability;
  if (options.datapath === "mmsg") {
    throw new MeridianError(
      "StartFailed",
      `--datapath mmsg does not work here: ${reason}; leave it out, or use --datapath dgram`,
    );
  }
  log.warn("datagrams are answered by the main thread, several times slower", { datapath: "dgram", reason });
  return undefined;
}
