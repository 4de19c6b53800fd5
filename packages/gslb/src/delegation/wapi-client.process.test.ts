import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { silentLogger, type HttpHandler, type HttpServer } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { parseInfobloxConfig } from "../config/infoblox-config.ts";
import { EnvironmentReader } from "../config/environment-reader.ts";
import { FakeGrid } from "../testdata/fake-grid.ts";
import { WapiClient } from "./wapi-client.ts";

const openssl = (...args: readonly string[]): Promise<unknown> => promisify(execFile)("openssl", args);
const isMissing = await openssl("version").then(
  () => false,
  () => process.env["CI"] !== "true",
);

/** A CA, and a certificate of it for 127.0.0.1, as PEM. */
async function issue(
  folder: string,
  name: string,
): Promise<Readonly<Record<"ca" | "certificate" | "key", string>>> {
  const file = (kind: string): string => path.join(folder, `${name}.${kind}`);
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  await openssl(
    ...["req", "-x509", ...key, "-subj", `/CN=${name}`, "-keyout", file("cakey"), "-out", file("ca")],
    ...["-addext", "keyUsage=critical,keyCertSign"],
  );
  await openssl(
    ...["req", "-x509", ...key, "-subj", "/CN=grid", "-keyout", file("key"), "-out", file("certificate")],
    ...["-CA", file("ca"), "-CAkey", file("cakey"), "-addext", "subjectAltName=IP:127.0.0.1"],
    ...["-addext", "basicConstraints=critical,CA:FALSE"],
  );
  const read = (kind: string): Promise<string> => readFile(file(kind), "utf8");
  return { ca: await read("ca"), certificate: await read("certificate"), key: await read("key") };
}

describe("a grid over TLS", { skip: isMissing && "openssl is not installed" }, () => {
  let folder: string;
  let server: HttpServer;
  let grid: FakeGrid;
  let handler: HttpHandler;
  let trusted: string;
  let other: string;
  const signal = new AbortController().signal;
  const calls: string[] = [];

  const clientTrusting = (ca: () => string | undefined): WapiClient => {
    const reader = new EnvironmentReader({
      INFOBLOX_GRID_HOST: "127.0.0.1",
      INFOBLOX_WAPI_PORT: String(server.local.port),
      INFOBLOX_WAPI_USERNAME: "admin",
      INFOBLOX_WAPI_PASSWORD: "secret",
      INFOBLOX_HTTP_REQUEST_TIMEOUT: "1",
    });
    const runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
    return new WapiClient({
      ...runtime,
      config: parseInfobloxConfig(reader),
      readCa: async () => ca(),
      onCall: ({ request, success, seconds }) => calls.push(`${request} ${success} ${seconds >= 0}`),
    });
  };
  const look = (client: WapiClient): Promise<unknown> =>
    client.session(signal, (send) =>
      send({ method: "GET", path: "zone_delegated", query: { fqdn: "cloud.example.com" } }),
    );

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "meridian-wapi-"));
    const [issued, stranger] = await Promise.all([issue(folder, "grid"), issue(folder, "stranger")]);
    [trusted, other] = [issued.ca, stranger.ca];
    grid = new FakeGrid();
    handler = grid.handler;
    server = await nodeRuntime({ dataFolder: folder, log: silentLogger }).network.serveHttp({
      ...{ address: "127.0.0.1", port: 0, bodyBytesMax: 1_000_000 },
      tls: { certificatePem: issued.certificate, privateKeyPem: issued.key },
      handler: (request) => handler(request),
    });
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  test("D34: one whose certificate nobody vouches for gets no password, and nothing else", async () => {
    await assert.rejects(look(clientTrusting(() => undefined)), /certificate/);
    await assert.rejects(look(clientTrusting(() => other)), /certificate/);
    assert.deepEqual(grid.requests, []);
  });

  test("one that is vouched for is asked; the file is read anew, so another CA counts at once", async () => {
    let ca = other;
    const client = clientTrusting(() => ca);
    await assert.rejects(look(client));
    ca = trusted;
    assert.deepEqual(await look(client), []);
    assert.deepEqual(grid.requests, ["GET zone_delegated", "POST logout"]);
    assert.equal(grid.openSessions, 0);
    // D53: k8gb's histogram has each call but logging out.
    assert.equal(calls.at(-1), "ZoneRead true true");
    assert.ok(calls.slice(0, -1).every((call) => call === "ZoneRead false true"));
  });

  test("one that does not answer is given up after INFOBLOX_HTTP_REQUEST_TIMEOUT, with its name", async () => {
    handler = () => new Promise(() => {});
    await assert.rejects(
      look(clientTrusting(() => trusted)),
      /GET zone_delegated at 127.0.0.1 had no answer in 1 s/,
    );
  });
});
