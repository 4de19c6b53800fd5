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
  describe("a watch whose packets vanish", { concurrency: true }, () => {
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

    const opened: Promise<unknown>[] = [];
    for (const protocol of ["HTTP/2", "HTTP/1.1"] as const) {
      it(`is noticed within 30 s over ${protocol}, and the copy goes on`, async () => {
        const port = await serve(protocol);
        await using kube = new KubeClient(runtime, {
          origin: `https://${server}:${port}`,
          tls: { caPem: authority.certificatePem },
        });
        const informer = new Informer<ConfigMap>(runtime, { client: kube, type: configMapType });
        const stopping = new AbortController();
        const running = informer.run(stopping.signal);
        const connected = until(() => informer.status.connected);
        opened.push(connected);
        await connected;
        await runtime.clock.sleep(1_000); // both are open before the packets vanish
        await Promise.all(opened);
        const startMs = runtime.clock.monotonicMs();
        await cut([[client, server]]);
        await until(() => !informer.status.connected);
        const noticedMs = runtime.clock.monotonicMs() - startMs;
        assert.ok(noticedMs <= noticedMsMax, `it took ${Math.round(noticedMs)} ms`);
        await runtime.clock.sleep(Math.max(0, noticedMsMax - noticedMs)); // the other one may still wait
        await heal();
        await until(() => informer.status.connected);
        assert.equal(informer.lister.list().length, 1);
        stopping.abort(new Error("the test is over"));
        await running;
      });
    }

    async function until(condition: () => boolean): Promise<void> {
      while (!condition()) await runtime.clock.sleep(20);
    }
  });
}
