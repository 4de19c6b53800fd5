import { composeMessage, parseMessage } from "@meridian/dns";
import type { Endpoint, Runtime } from "@meridian/runtime";

/** What came back for one question; a server that answers with any code has answered. */
export type K8gbOutcome =
  | { readonly kind: "answered"; readonly rcode: number; readonly addresses: readonly string[] }
  | { readonly kind: "timeout" };

const timeoutMs = 2_000;

/**
 * Asks servers for A records as k8gb does: one after the other, over UDP, without EDNS, 2 s for each and no second try. The
 * first that answers decides, whatever it says; a truncated answer is taken as it is.
 */
export async function askAsK8gb(
  runtime: Runtime,
  of: { readonly from: string; readonly name: string; readonly servers: readonly Endpoint[] },
): Promise<K8gbOutcome> {
  for (const server of of.servers) {
    const outcome = await askOne(runtime, { ...of, server });
    if (outcome.kind === "answered") return outcome;
  }
  return { kind: "timeout" };
}

/** Where a peer is asked, by the ports of the edge servers: the first one's, all that are not 53, then 53. */
export function k8gbServers(address: string, edgePorts: readonly number[]): readonly Endpoint[] {
  const others = edgePorts.filter((port) => port !== 53);
  const last = edgePorts.includes(53) ? [] : [53];
  return [edgePorts[0]!, ...others, ...last].map((port) => ({ address, port }));
}

async function askOne(
  runtime: Runtime,
  { from, name, server }: { readonly from: string; readonly name: string; readonly server: Endpoint },
): Promise<K8gbOutcome> {
  const { clock, network, random } = runtime;
  const id = random.uint32() & 0xffff;
  let heard: (outcome: K8gbOutcome) => void = () => {};
  const outcome = new Promise<K8gbOutcome>((resolve) => (heard = resolve));
  const socket = await network.bindUdp({
    address: from,
    port: 0,
    onDatagram(datagram, sender) {
      // A connected socket: what comes from elsewhere is never seen.
      if (sender.address !== server.address || sender.port !== server.port) return;
      const read = readAnswer(datagram, id);
      if (read !== undefined) heard(read);
    },
  });
  const cancel = clock.after(timeoutMs, () => heard({ kind: "timeout" }));
  const questions = [{ name, type: "A", class: 1 }];
  socket.send(composeMessage({ id, recursionDesired: true, questions }), server);
  try {
    return await outcome;
  } finally {
    cancel();
    await socket[Symbol.asyncDispose]();
  }
}

function readAnswer(datagram: Uint8Array, id: number): K8gbOutcome | undefined {
  try {
    const message = parseMessage(datagram);
    if (message.id !== id) return undefined;
    const addresses = message.answers.filter(({ type }) => type === "A").map(({ data }) => data);
    return { kind: "answered", rcode: message.rcode, addresses };
  } catch {
    return { kind: "timeout" };
  }
}
