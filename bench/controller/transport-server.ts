import { readFile } from "node:fs/promises";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";

// The server of `transport.ts`, a process of its own: HTTP/2 and HTTP/1.1 on one port. `transport-server.js CERT KEY` prints
// its port; `/connections` answers how many connections are open.

const [certificateFile = "", keyFile = ""] = process.argv.slice(2);

const objectOf = (index: number): string => {
  const metadata = {
    name: `object-${index}`,
    namespace: "bench",
    uid: `uid-${index}`,
    resourceVersion: "1000",
  };
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { text: "" } };
  const room = 1024 - JSON.stringify(object).length;
  return JSON.stringify({ ...object, data: { text: "x".repeat(room) } });
};
const small = Buffer.from(objectOf(0));
const event = Buffer.from(`${JSON.stringify({ type: "MODIFIED", object: JSON.parse(objectOf(0)) })}\n`);
const items = Array.from({ length: 20_000 }, (_, index) => objectOf(index));
const list = Buffer.from(
  `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1000"},"items":[${items.join(",")}]}`,
);

let connections = 0;
const server = createSecureServer(
  {
    allowHTTP1: true,
    cert: await readFile(certificateFile),
    key: await readFile(keyFile),
    settings: { maxConcurrentStreams: 1000 },
  },
  (request, response) => void answer(request, response),
);
server.on("secureConnection", (socket) => {
  connections++;
  socket.on("close", () => connections--);
  socket.setNoDelay(true);
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));

async function answer(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
  response.setHeader("content-type", "application/json");
  const { pathname, searchParams } = new URL(request.url, "https://bench");
  if (pathname === "/small") return end(response, small);
  if (pathname === "/list") return end(response, list);
  if (pathname === "/connections") return end(response, Buffer.from(String(connections)));
  if (pathname === "/quiet") {
    response.write(event);
    return;
  }
  // A busy watch: events leave one by one, as a server writes them that learns of them one by one.
  for (let left = Number(searchParams.get("events")); left > 0; left--) {
    if (!response.write(event)) await new Promise((resolve) => response.once("drain", resolve));
  }
  response.end();
}

function end(response: Http2ServerResponse, body: Buffer): void {
  response.setHeader("content-length", body.length);
  response.end(body);
}
