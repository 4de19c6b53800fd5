import { fileURLToPath } from "node:url";
import { output } from "../../e2e/harness/command.ts";
import { peerAbsence, peerProgram } from "../../e2e/harness/peer-programs.ts";
import { clientNode, nodeLts } from "./node-parts.ts";

/** How a measured client is started. */
export interface ClientCommand {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** An informer that is measured. */
export interface BenchClient {
  readonly name: string;
  /** Whether it asks for what only kube-apiserver does: protobuf, or the initial state as a stream. */
  readonly onlyReal: boolean;
  /** Why it cannot run here, or `undefined`. */
  readonly absence: () => Promise<string | undefined>;
  readonly version: () => Promise<string>;
  readonly command: (kubeconfig: string) => Promise<ClientCommand>;
}

const clientFile = (name: string): string => fileURLToPath(new URL(`clients/${name}.js`, import.meta.url));
const present = async (): Promise<undefined> => undefined;

/** All of them, in the order of the report. */
export const benchClients: readonly BenchClient[] = [
  meridian("Meridian", []),
  meridian("Meridian, stream", ["--streaming"]),
  meridian("Meridian, decoding", ["--decode"]),
  meridian("Meridian, protobuf", ["--protobuf"]),
  meridian("Meridian, protobuf, decoding", ["--protobuf", "--decode"]),
  { ...meridian("Meridian, Node LTS", [], nodeLts), onlyReal: true },
  clientGo("client-go, JSON", "application/json", false),
  clientGo("client-go, JSON, stream", "application/json", true),
  clientGo("client-go, protobuf", "application/vnd.kubernetes.protobuf", false),
  clientGo("client-go, protobuf, stream", "application/vnd.kubernetes.protobuf", true),
  clientNodeInformer("1.4.0", async () => process.execPath),
  clientNodeInformer("2.0.1", nodeLts),
];

function meridian(
  name: string,
  args: readonly string[],
  node: () => Promise<string> = async () => process.execPath,
): BenchClient {
  const onlyReal = args.some((arg) => arg !== "--decode");
  return { name, onlyReal, ...onNode("meridian-informer", node, async () => args) };
}

function clientGo(name: string, contentType: string, streaming: boolean): BenchClient {
  return {
    name,
    onlyReal: name !== "client-go, JSON",
    absence: () => peerAbsence("client-go-informer"),
    version: async () => "client-go 0.36.3",
    command: async (kubeconfig) => ({
      command: [
        await peerProgram("client-go-informer"),
        "informer",
        ...["--kubeconfig", kubeconfig, "--content-type", contentType],
      ],
      env: { KUBE_FEATURE_WatchListClient: String(streaming) },
    }),
  };
}

function clientNodeInformer(version: string, node: () => Promise<string>): BenchClient {
  const args = async (): Promise<readonly string[]> => ["--module", await clientNode(version)];
  return { name: `client-node ${version}`, onlyReal: false, ...onNode("client-node-informer", node, args) };
}

/** How a client that runs on Node is started. */
function onNode(
  file: string,
  node: () => Promise<string>,
  args: () => Promise<readonly string[]>,
): Omit<BenchClient, "name" | "onlyReal"> {
  return {
    absence: present,
    version: async () => `Node ${await output(await node(), ["--version"])}`.trim(),
    command: async (kubeconfig) => ({
      command: [
        await node(),
        ...["--expose-gc", clientFile(file), "--kubeconfig", kubeconfig],
        ...(await args()),
      ],
    }),
  };
}
