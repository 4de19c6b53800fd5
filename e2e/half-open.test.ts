import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createSecureServer } from "node:http2";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { Informer, KubeClient } from "@meridian/controller";
import { configMapType, type ConfigMap } from "@meridian/kube";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { cut, enterNamespace, heal } from "./harness/namespace.ts";
import { TestAuthority } from "./harness/test-authority.ts";

// A watch whose packets vanish, without FIN or RST, as behind a firewall that has forgotten it
// (kubernetes-client/javascript#596): it is noticed within 30 s, over HTTP/2 by PING and over HTTP/1.1 by the kernel.

const client = "127.0.0.1";
const server = "127.0.0.2";
const noticedMsMax = 30_000;

if (await enterNamespace()) {
  describe("a watch whose packets vanish", () => {
    let folder: string;
    let authority: TestAuthority;
    const runtime = nodeRuntime({ dataFolder: tmpdir(), log: silentLogger });
    const cleanups: (() => void)[] = [];

    before(async () => {
      folder = await mkdtemp(path.join(tmpdir(), "meridian-half-open-"));
      authority = await TestAuthority.create(folder);
    });
    after(async () => {
      for (const cleanup of cleanups) cleanup();
      await rm(folder, { recursive: true, force: true });
    });

    async function serve(protocol: "HTTP/2" | "HTTP/1.1"): Promise<number> {
      const name = protocol.replace(/\W/g, "-");
      const { certificatePem: cert, privateKeyPem: key } = await authority.issueServer(name, [server]);
      const metadata = { name: "a", namespace: "n", uid: "u", resourceVersion: "1" };
      const object = { apiVersion: "v1", kind: "ConfigMap", metadata };
      const list = {
        apiVersion: "v1",
        kind: "ConfigMapList",
        metadata: { resourceVersion: "1" },
        items: [object],
      };
      const answer = (
        request: { readonly url?: string | undefined },
        response: { write(text: string): unknown; end(text: string): unknown },
      ): void => {
        if (!String(request.url).includes("watch=")) response.end(JSON.stringify(list));
        else response.write(`${JSON.stringify({ type: "BOOKMARK", object })}\n`);
      };
      const listener =
        protocol === "HTTP/2"
          ? createSecureServer({ cert, key }, answer)
          : createServer({ cert, key }, answer);
      listener.on("connection", (socket: Socket) => cleanups.push(() => socket.destroy()));
      listener.listen(0, server);
      await once(listener, "listening");
      cleanups.push(() => listener.close());
      return (listener.address() as AddressInfo).port;
    }

    it("is noticed within 30 s over HTTP/2 and over HTTP/1.1, and the copies go on", async () => {
      const stopping = new AbortController();
      await using http2 = await clientOf("HTTP/2");
      await using http1 = await clientOf("HTTP/1.1");
      const informers = [http2, http1].map(
        (client) => new Informer<ConfigMap>(runtime, { client, type: configMapType }),
      );
      const running = informers.map((informer) => informer.run(stopping.signal));
      const all = async (connected: boolean, signal?: AbortSignal): Promise<void> => {
        const is = informers.map((informer) => until(() => informer.status.connected === connected, signal));
        await Promise.all(is);
      };
      await all(true);
      await cut([[client, server]]);
      await all(false, AbortSignal.timeout(noticedMsMax)); // the bound is the claim itself
      await heal();
      await all(true);
      for (const { lister } of informers) assert.equal(lister.list().length, 1);
      stopping.abort(new Error("the test is over"));
      await Promise.all(running);
    });

    async function clientOf(protocol: "HTTP/2" | "HTTP/1.1"): Promise<KubeClient> {
      const origin = `https://${server}:${await serve(protocol)}`;
      return new KubeClient(runtime, { origin, tls: { caPem: authority.certificatePem } });
    }

    async function until(condition: () => boolean, signal?: AbortSignal): Promise<void> {
      while (!condition()) await runtime.clock.sleep(20, signal);
    }
  });
}
