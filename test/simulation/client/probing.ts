import { composeMessage, parseMessage, type Message } from "@meridian/dns";
import type { HttpClient, Runtime } from "@meridian/runtime";
import { between, chance, pick } from "../fleet/draws.ts";
import { clientAddress, placeOf, zoneName, type Tag } from "../fleet/fleet-map.ts";

/** A name that appears nowhere but in what an intruder sends. */
export const intruderName = "intruder";

const targets = [
  "/api/v1/namespaces/demo/configmaps",
  `/api/v1/namespaces/demo/configmaps/${intruderName}`,
  "/apis/k8gb.io/v1beta1/gslbs",
  "/apis/k8gb.io/v1beta1/namespaces/demo/gslbs/app-0/status",
  "/apis/discovery.k8s.io/v1/endpointslices?watch=1",
  "/api/v1/namespaces/demo",
  "/openapi/v2",
  "/apis",
] as const;
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
const rcodes = { formErr: 1, servFail: 2, notImp: 4, refused: 5, notAuth: 9 };

export interface ProbingOptions {
  /** The clusters at whose doors to knock. */
  readonly tags: readonly Tag[];
  readonly onWrong: (seen: string) => void;
  readonly onTried: () => void;
}

/** Knocks at every door of every cluster, without a key, for ever. */
export async function probe(runtime: Runtime, { tags, onWrong, onTried }: ProbingOptions): Promise<void> {
  const clients = new Map<string, HttpClient>();
  const socket = await runtime.network.bindUdp({
    address: clientAddress,
    port: 0,
    onDatagram: (datagram) => checkRefused(datagram, onWrong),
  });
  while (tags.length > 0) {
    await runtime.clock.sleep(between(runtime.random, 300, 3_000));
    const tag = pick(runtime.random, tags);
    onTried();
    if (chance(runtime.random, 0.5)) socket.send(intrusion(runtime), placeOf(tag).dns);
    else void knock(runtime, { tag, clients, onWrong });
  }
}

async function knock(
  runtime: Runtime,
  of: {
    readonly tag: Tag;
    readonly clients: Map<string, HttpClient>;
    readonly onWrong: (seen: string) => void;
  },
): Promise<void> {
  const { tag, clients, onWrong } = of;
  const { random, network } = runtime;
  const isOperator = chance(random, 0.2);
  const place = placeOf(tag);
  const { address, port } = isOperator ? place.operator : place.apiServer;
  const origin = `http://${address}:${port}`;
  const client = clients.get(origin) ?? network.httpClient({ origin });
  clients.set(origin, client);
  const authorization = pick(random, [
    undefined,
    "Bearer wrong",
    "Bearer ",
    "Basic YWRtaW46YWRtaW4=",
    "token",
  ]);
  const method = pick(random, methods);
  const target = isOperator ? `/explain?host=app-0.${zoneName}` : pick(random, targets);
  const body = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: intruderName } });
  try {
    const response = await client.request({
      method,
      target,
      headers: {
        "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
        ...(authorization === undefined ? {} : { authorization }),
      },
      ...(method === "GET" || method === "DELETE" ? {} : { body: new TextEncoder().encode(body) }),
    });
    for await (const _ of response.body) {
      // Read to the end, so that the connection can be used again.
    }
    if (response.status !== 401)
      onWrong(
        `${tag} answered ${response.status} to ${method} ${target} with ${authorization ?? "no token"}`,
      );
  } catch {
    // No answer is no intrusion.
  }
}

/** A datagram that must change nothing and get no more than a refusal. */
function intrusion({ random }: Runtime): Uint8Array {
  const id = random.uint32() & 0xffff;
  const zone = { name: zoneName, type: "SOA", class: 1 };
  const record = { name: `app-0.${zoneName}`, type: "A", class: 1, ttl: 5, data: "203.0.113.77" };
  const kinds: readonly (() => Uint8Array)[] = [
    () => composeMessage({ id, opcode: 5, questions: [zone], authority: [record] }),
    () => composeMessage({ id, opcode: 0, questions: [{ ...zone, type: "AXFR" }] }),
    () => composeMessage({ id, opcode: 0, questions: [{ ...zone, type: "IXFR" }] }),
    () => composeMessage({ id, opcode: 2, questions: [zone] }),
    () => composeMessage({ id, opcode: 0, response: true, questions: [zone], answers: [record] }),
    () => composeMessage({ id, opcode: 5, response: true, questions: [zone] }),
    () => composeMessage({ id, opcode: 4, questions: [{ ...zone, name: `_localtargets.${zoneName}` }] }),
    () => random.bytes(random.uint32() % 200),
  ];
  return pick(random, kinds)();
}

function checkRefused(datagram: Uint8Array, onWrong: (seen: string) => void): void {
  let message: Message;
  try {
    message = parseMessage(datagram);
  } catch {
    onWrong(`a DNS server answered ${datagram.length} octets that are no message to an intrusion`);
    return;
  }
  const isAllowed = Object.values(rcodes).includes(message.rcode) || message.opcode === 4;
  if (!isAllowed || message.answers.length > 0)
    onWrong(
      `a DNS server answered rcode ${message.rcode} with ${message.answers.length} records to an intrusion ` +
        `(opcode ${message.opcode}, ${message.questions.map(({ type }) => type).join()})`,
    );
}
