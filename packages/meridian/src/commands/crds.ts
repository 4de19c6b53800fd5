import { customResourceDefinitions } from "@meridian/gslb";
import { stringify } from "yaml";
import type { Command } from "../cli/command.ts";
import { servedDefinitions } from "../cluster/served-definitions.ts";

/** `meridian crds`: the definitions that a cluster needs before its Gslbs, for kubectl. */
export const crdsCommand: Command = {
  words: ["crds"],
  positionals: [],
  summary: "print the CustomResourceDefinitions that the operator needs, as YAML",
  details: ["meridian crds | kubectl apply --server-side -f -", "A cluster that has k8gb's can keep those."],
  options: [{ name: "legacy", help: "with that of the group k8gb.absa.oss" }],
  run(invocation, terminal) {
    const definitions = invocation.switches.has("legacy") ? customResourceDefinitions : servedDefinitions();
    terminal.print(
      definitions.map((each) => stringify(each, { aliasDuplicateObjects: false }).trimEnd()).join("\n---\n"),
    );
    return Promise.resolve(0);
  },
};
