import type { Command } from "../cli/command.ts";
import { storageOption } from "../cli/storage-option.ts";
import { ClosingStack } from "../cluster/closing-stack.ts";
import { backgroundControllers, parseApiserverOptions } from "./apiserver-options.ts";

/** `meridian apiserver`: the Kubernetes-compatible API server alone. */
export const apiserverCommand: Command = {
  words: ["apiserver"],
  positionals: [],
  server: true,
  summary: "run the Kubernetes-compatible API server alone",
  details: [
    "Serves HTTPS with a certificate of its own CA and prints the path of a kubeconfig. Runs until SIGTERM or Ctrl-C.",
  ],
  options: [
    { name: "data", value: "DIR", help: "where objects, certificates and the kubeconfig are kept" },
    { name: "ephemeral", help: "keep nothing: objects in memory, the rest in a temporary folder" },
    { name: "address", value: "ADDR", help: "where to listen (default 127.0.0.1)" },
    {
      name: "port",
      value: "P",
      help: "port to listen on; 0 takes a free one, again that of DIR's last run (default 6443)",
    },
    storageOption,
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
