import type { Command } from "../cli/command.ts";
import { ClosingStack } from "../cluster/closing-stack.ts";
import { operatorOptions, parseOperatorOptions } from "../operator/operator-command-options.ts";

/** `meridian operator`: the balancer of a cluster that is there. */
export const operatorCommand: Command = {
  words: ["operator"],
  positionals: [],
  server: true,
  summary: "run the Gslb operator and its DNS server for a cluster that there is",
  details: [
    "What k8gb's operator and its CoreDNS do for a cluster. Each setting is an environment variable under k8gb's name, a flag",
    "and a key of the file (the flag in camelCase); a flag comes before the environment, and that before the file.",
    "Runs until SIGTERM or Ctrl-C.",
  ],
  options: operatorOptions,
  async run(invocation, terminal) {
    const options = parseOperatorOptions(invocation);
    const closing = new ClosingStack();
    try {
      // Loaded when it is needed: the other commands start without it.
      const { runOperator } = await import("../operator/run-operator.ts");
      return await runOperator(terminal, options, closing);
    } finally {
      await closing.close();
    }
  },
};
