import { ReusedClient, type AnswerDatagram } from "@meridian/runtime";
import { ProxyHeader } from "./proxy-header.ts";
import type { ProxySources } from "./proxy-sources.ts";

/**
 * Wraps an answering function, so that what comes from a proxy is answered as from its client: in limits, cookies, subnets
 * and logs. A datagram of a proxy without a whole header gets silence; the answer leaves without one.
 */
export function answerProxied(answer: AnswerDatagram, sources: ProxySources): AnswerDatagram {
  if (sources.none) return answer;
  const header = new ProxyHeader();
  const proxied = new ReusedClient("udp");
  // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
  return (input, offset, length, client, output) => {
    if (!sources.has(client)) return answer(input, offset, length, client, output);
    if (header.read(input, offset, offset + length, "datagram") !== "ok") return 0;
    const at = offset + header.length;
    const rest = length - header.length;
    if (header.local) return answer(input, at, rest, client, output);
    proxied.setOctets(input, header.addressAt, header.addressOctets, header.port);
    return answer(input, at, rest, proxied, output);
  };
}
