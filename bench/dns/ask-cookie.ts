import { askUdp } from "./ask-udp.ts";
import { origin } from "./bench-zone.ts";

const clientCookie = Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8]);

/**
 * A COOKIE option that this server takes for valid: its own server cookie behind ours, as a resolver sends from its second query
 * on. A client cookie alone would measure how Knot says BADCOOKIE. From a server without cookies, ours alone comes back.
 */
export async function askCookie(port: number): Promise<Uint8Array> {
  const answer = await askUdp(port, { name: origin, type: "SOA", cookie: clientCookie }, 3000);
  if (answer === undefined) throw new Error("no answer to a question with a client cookie");
  const at = answer.message.lastIndexOf(Buffer.from(clientCookie));
  if (at < 4 || answer.message.readUInt16BE(at - 4) !== 10) return clientCookie;
  const length = answer.message.readUInt16BE(at - 2);
  return answer.message.subarray(at, at + length);
}
