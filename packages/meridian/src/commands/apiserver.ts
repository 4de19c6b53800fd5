import { isIP } from "node:net";
import { resolve } from "node:path";
import type { BackgroundController } from "@meridian/apiserver";
import { lastText, type Command, type Invocation } from "../cli/command.ts";
import { OptionReader } from "../cli/option-values.ts";
import { ClosingStack } from "../cluster/closing-stack.ts";
import type { StorageKind } from "../fleet/child-protocol.ts";

const backgroundControllers: readonly BackgroundController[] = [
  "garbage-collection",
  "namespaces",
  "event-expiry",
];

/** `meridian apiserver`: the Kubernetes-compatible API server alone. */
export const apiserverCommand: Command = {
  words: ["apiserver"],
  positionals: [],
  summary: "run the Kubernetes-compatible API server alone",
  details: [
    "Serves HTTPS with a certificate of its own CA and prints the path of a kubeconfig. Runs until SIGTERM or Ctrl-C.",
  ],
  options: [
    { name: "data", value: "DIR", help: "where objects, certificates and the kubeconfig are kept" },
    { name: "ephemeral", help: "keep nothing: objects in memory, the rest in a temporary folder" },
    { name: "address", value: "ADDR", help: "where to listen (default 127.0.0.1)" },
    { name: "port", value: "P", help: "port to listen on; 0 takes a free one (default 6443)" },
    { name: "storage", value: "KIND", help: "lmdb, or memory with a log on the disk (default lmdb)" },
    {
      name: "token-file",
      value: "FILE",
      help: "file with the bearer token (default: a new one, kept in DIR/token)",
    },
    {
      name: "disable-controller",
      value: "NAME",
      multiple: true,
      help: `switch a background controller off: ${backgroundControllers.join(", ")}`,
    },
  ],
  async run(invocation, terminal) {
    const options = parseApiserverOptions(invocation);
    const closing = new ClosingStack();
    try {
      // Loaded when it is needed: the other commands start without the server.
      const { serveApiserver } = await import("./serve-apiserver.ts");
      return await serveApiserver(terminal, options, closing);
    } finally {
      await closing.close();
    }
  },
};

/** What `meridian apiserver` was asked for. */
export interface ApiserverOptions {
  /** Absent: a temporary one. */
  readonly folder?: string;
  readonly storage: StorageKind;
  readonly address: string;
  readonly port: number;
  readonly tokenFile?: string;
  readonly disabledControllers: readonly BackgroundController[];
}

function parseApiserverOptions(invocation: Invocation): ApiserverOptions {
  const reader = new OptionReader();
  const folder = lastText(invocation, "data");
  const ephemeral = invocation.switches.has("ephemeral");
  if ((folder === undefined) !== ephemeral) reader.problem("give either --data DIR or --ephemeral");
  const storageText = lastText(invocation, "storage");
  const storage = reader.oneOf(storageText, {
    option: "--storage",
    values: ["lmdb", "memory"],
    fallback: "lmdb",
  });
  if (ephemeral && storageText === "lmdb")
    reader.problem("--ephemeral keeps nothing, so it goes with --storage memory only");
  const address = lastText(invocation, "address") ?? "127.0.0.1";
  if (isIP(address) === 0)
    reader.problem(`--address ${address}: must be an IP address, for example 127.0.0.1`);
  const port = reader.integer(lastText(invocation, "port"), {
    option: "--port",
    min: 0,
    max: 65_535,
    fallback: 6443,
  });
  const tokenFile = lastText(invocation, "token-file");
  const disabledControllers = (invocation.text.get("disable-controller") ?? []).map((text) =>
    reader.oneOf<BackgroundController>(text, {
      option: "--disable-controller",
      values: backgroundControllers,
      fallback: "garbage-collection",
    }),
  );
  reader.finish();
  return {
    storage: ephemeral ? "ephemeral" : storage,
    address,
    port,
    disabledControllers,
    ...(folder === undefined ? {} : { folder: resolve(folder) }),
    ...(tokenFile === undefined ? {} : { tokenFile }),
  };
}
