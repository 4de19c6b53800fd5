import { randomBytes } from "node:crypto";
import { createApiServer, openMemoryStorage, requestBodyBytesMax } from "@meridian/apiserver";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { kubeconfigText } from "../../e2e/harness/kubeconfig-text.ts";
import { TestAuthority } from "../../e2e/harness/test-authority.ts";

// Our API server, with its objects in memory: `own-server-process.js FOLDER` prints a kubeconfig on one line, and serves
// until it is ended.

const [folder = "."] = process.argv.slice(2);
const runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
const authority = await TestAuthority.create(folder);
const { certificatePem, privateKeyPem } = await authority.issueServer("apiserver", ["127.0.0.1"]);
const token = randomBytes(16).toString("hex");
const api = createApiServer(runtime, {
  storage: await openMemoryStorage(runtime, { persistent: false }),
  tokens: [{ token, username: "admin", groups: ["system:masters"] }],
});
await api.ready;
const http = await runtime.network.serveHttp({
  ...{ address: "127.0.0.1", port: 0, tls: { certificatePem, privateKeyPem } },
  handler: api.handler,
  bodyBytesMax: requestBodyBytesMax,
});
console.log(
  kubeconfigText({
    server: `https://127.0.0.1:${http.local.port}`,
    ...{ caPem: authority.certificatePem, user: "admin", credential: { token } },
  }),
);
