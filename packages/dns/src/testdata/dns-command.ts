import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Endpoint, Runtime } from "@meridian/runtime";
import { mmsgAvailability } from "@meridian/runtime/node";

/** The command as users run it; it comes with another package, which is built before any test runs. */
const command = fileURLToPath(new URL("../../../meridian/bin/meridian.js", import.meta.url));

const mmsg = mmsgAvailability();

/** Each way to answer datagrams, and why it cannot be tried here. */
export const datapaths: readonly { readonly datapath: "mmsg" | "dgram"; readonly skip: string | false }[] = [
  { datapath: "mmsg", skip: mmsg.available ? false : mmsg.reason },
  { datapath: "dgram", skip: false },
];

/** A `meridian dns` in a process of its own. */
export interface DnsCommand extends AsyncDisposable {
  readonly local: Endpoint;
}

/** Starts `meridian dns` at a free port of 127.0.0.1 with more arguments, and resolves when it serves. */
export async function startDnsCommand(args: readonly string[]): Promise<DnsCommand> {
  const words = [command, "dns", "--listen", "127.0.0.1:0", ...args];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe"] });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let printed = "";
  const port = await new Promise<number>((resolve, reject) => {
    const look = (chunk: Buffer): void => {
      printed += chunk.toString();
      const found = /Serving .* at 127\.0\.0\.1:(\d+)/.exec(printed);
      if (found !== null) resolve(Number(found[1]));
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    child.once("error", reject);
    void closed.then(() => reject(new Error(`meridian dns ended: ${printed}`)));
  });
  return {
    local: { address: "127.0.0.1", port },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await closed;
    },
  };
}

/**
 * Sends a message as it is and resolves with its answer; again where that is lost. With `probe`, a question that has an
 * answer under another id, no answer is waited for but the probe's: `undefined` where that one came first.
 *
 * @throws Error when nothing is answered at all
 */
export async function exchangeDatagram(
  runtime: Runtime,
  {
    to,
    message,
    probe,
  }: { readonly to: Endpoint; readonly message: Uint8Array; readonly probe?: Uint8Array },
): Promise<Uint8Array | undefined> {
  let reply: Uint8Array | undefined;
  let onLast = (): void => {};
  const last = new Promise<true>((resolve) => (onLast = () => resolve(true)));
  const isProbe = (octets: Uint8Array): boolean => octets[0] === probe?.[0] && octets[1] === probe?.[1];
  await using socket = await runtime.network.bindUdp({
    address: "127.0.0.1",
    port: 0,
    onDatagram(octets) {
      if (!isProbe(octets)) reply ??= octets.slice();
      if (probe === undefined || isProbe(octets)) onLast();
    },
  });
  for (let tries = 0; tries < 5; tries++) {
    socket.send(message, to);
    // Both come to one socket of the server, which answers in order what it does not hand on.
    if (probe !== undefined) socket.send(probe, to);
    if ((await Promise.race([last, runtime.clock.sleep(2_000)])) === true) return reply;
  }
  throw new Error(`${to.address}:${to.port} does not answer`);
}
