import { settingDefinitions } from "@meridian/gslb";
import { lastText, type Invocation, type OptionDefinition } from "../cli/command.ts";
import { parseEndpoint } from "../cli/endpoint-option.ts";
import { OptionReader } from "../cli/option-values.ts";
import type { Datapath } from "../fleet/child-protocol.ts";
import type { Endpoint } from "@meridian/runtime";

/** What is given on the command line of `meridian operator` beside settings. */
export interface OperatorOptions {
  readonly configPath: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly dns: readonly Endpoint[];
  readonly datapath: Datapath;
  readonly workers: number;
  /** By flag, without `--`. */
  readonly flags: ReadonlyMap<string, string>;
}

const placeOptions: readonly OptionDefinition[] = [
  { name: "config", value: "FILE", help: "settings as YAML, read again when it changes and at SIGHUP" },
  {
    name: "kubeconfig",
    value: "FILE",
    help: "where the cluster is (default: KUBECONFIG, the Pod's account, ~/.kube/config)",
  },
  { name: "context", value: "NAME", help: "which of the kubeconfig's contexts" },
  {
    name: "listen",
    value: "ADDR:PORT",
    multiple: true,
    help: "where the DNS server answers (default 0.0.0.0:5353); may be repeated",
  },
  { name: "datapath", value: "auto|mmsg|dgram", help: "how datagrams are answered (default auto)" },
  { name: "workers", value: "N", help: "threads for each address that is listened on (default 1)" },
];

/** The options of `meridian operator`: those, and every setting. */
export const operatorOptions: readonly OptionDefinition[] = [
  ...placeOptions,
  ...settingDefinitions.map(({ flag, value, help, variable }) => ({
    name: flag,
    value,
    help: `${help} [${variable}]`,
  })),
];

/** @throws MeridianError `Usage` */
export function parseOperatorOptions(invocation: Invocation): OperatorOptions {
  const reader = new OptionReader();
  const listen = invocation.text.get("listen") ?? ["0.0.0.0:5353"];
  const options = {
    configPath: lastText(invocation, "config"),
    kubeconfig: lastText(invocation, "kubeconfig"),
    context: lastText(invocation, "context"),
    dns: listen.flatMap((text) => parseEndpoint(text, reader) ?? []),
    datapath: reader.oneOf<Datapath>(lastText(invocation, "datapath"), {
      option: "--datapath",
      values: ["auto", "mmsg", "dgram"],
      fallback: "auto",
    }),
    workers: reader.integer(lastText(invocation, "workers"), {
      option: "--workers",
      min: 1,
      max: 64,
      fallback: 1,
    }),
    flags: new Map(
      settingDefinitions.flatMap(({ flag }) => {
        const text = lastText(invocation, flag);
        return text === undefined ? [] : [[flag, text] as const];
      }),
    ),
  };
  reader.finish();
  return options;
}
