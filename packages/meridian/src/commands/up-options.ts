import { dataFolder } from "../cli/data-option.ts";
import { lastText, type Invocation } from "../cli/command.ts";
import { parseEndpoint } from "../cli/endpoint-option.ts";
import { OptionReader } from "../cli/option-values.ts";
import { parseStorageKind } from "../cli/storage-option.ts";
import type { Datapath, StorageKind } from "../fleet/child-protocol.ts";
import type { LabListen } from "../lab/lab-listen.ts";
import { clusterNames } from "../fleet/fleet-layout.ts";

/** What `meridian up` was asked for. */
export interface UpOptions {
  readonly clusterCount: number;
  readonly folder: string;
  readonly storage: StorageKind;
  /** One for each cluster, in turn. */
  readonly datapaths: readonly Datapath[];
  readonly dnsPort?: number;
  readonly singleAddress: boolean;
  readonly examples: boolean;
  readonly restart: boolean;
  readonly lab: LabListen;
}

/** Understands the options of `meridian up`. @throws MeridianError `Usage` with every problem */
export function parseUpOptions(invocation: Invocation): UpOptions {
  const reader = new OptionReader();
  const storage = parseStorageKind(invocation, reader);
  const portText = lastText(invocation, "port");
  const port = reader.integer(portText, { option: "--port", min: 1, max: 65_000, fallback: 0 });
  const options: UpOptions = {
    clusterCount: reader.integer(lastText(invocation, "clusters"), {
      option: "--clusters",
      min: 1,
      max: clusterNames.length,
      fallback: 3,
    }),
    folder: dataFolder(invocation),
    storage,
    datapaths: (lastText(invocation, "datapath") ?? "dgram").split(",").map((text) =>
      reader.oneOf<Datapath>(text, {
        option: "--datapath",
        values: ["auto", "mmsg", "dgram"],
        fallback: "dgram",
      }),
    ),
    singleAddress: invocation.switches.has("single-address"),
    examples: !invocation.switches.has("no-examples"),
    restart: !invocation.switches.has("no-restart"),
    lab: parseLab(invocation, reader),
    ...(portText === undefined ? {} : { dnsPort: port }),
  };
  reader.finish();
  return options;
}

function parseLab(invocation: Invocation, reader: OptionReader): LabListen {
  const text = lastText(invocation, "lab");
  const off = invocation.switches.has("no-lab");
  if (off && text !== undefined) reader.problem("give either --lab ADDR:PORT or --no-lab");
  if (off) return "off";
  return text === undefined ? "default" : (parseEndpoint(text, reader, "--lab") ?? "off");
}
