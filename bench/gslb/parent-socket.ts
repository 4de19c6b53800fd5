import { createSocket } from "node:dgram";
import { once } from "node:events";
import { composeMessage, parseMessage } from "@meridian/dns";
import { parentPlace, placeOf, tagsOf } from "./fleet-place.ts";

/** Answers where the clusters' DNS servers are, as the servers of the parent zone do. */
export async function openParentSocket(network: string, clusterCount: number): Promise<Disposable> {
  const socket = createSocket("udp4");
  socket.on("message", (octets, from) => {
    const { id, questions } = parseMessage(octets);
    const name = questions[0]?.name ?? "";
    const tag = tagsOf(clusterCount).find((each) => name.startsWith(`gslb-ns-${each}-`));
    const data = tag === undefined ? [] : [placeOf(network, tag).dns.address];
    const answers = data.map((address) => ({ name, type: "A", class: 1, ttl: 30, data: address }));
    socket.send(composeMessage({ id, response: true, questions, answers }), from.port, from.address);
  });
  const { address, port } = parentPlace(network);
  socket.bind(port, address);
  await once(socket, "listening");
  return { [Symbol.dispose]: () => void socket.close() };
}
