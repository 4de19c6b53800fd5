import { networkFromText } from "../geo/geo-network.ts";

/** What a test database holds: records by network, the longest network winning. */
export interface MmdbContent {
  readonly networks: Readonly<Record<string, unknown>>;
  readonly ipVersion: 4 | 6;
  readonly recordBits: 24 | 28 | 32;
}

/** Writes a MaxMind DB (file format 2.0). IPv4 stands at `::/96`, and again at `2002::/16` where `aliases`. */
export function writeMmdb(content: MmdbContent & { readonly aliases?: boolean }): Uint8Array {
  const root: WrittenNode = { children: [undefined, undefined] };
  const data: number[] = [];
  const offsets = new Map<string, number>();
  const pool = new Map<string, number>();
  const sorted = Object.entries(content.networks).map(([text, record]) => ({
    network: readNetwork(text),
    record,
  }));
  const ofLength = ({ network }: (typeof sorted)[number]): number =>
    network.prefix + (network.octetCount === 4 && content.ipVersion === 6 ? 96 : 0);
  for (const entry of sorted.toSorted((a, b) => ofLength(a) - ofLength(b))) {
    const { network, record } = entry;
    const key = JSON.stringify(record);
    if (!offsets.has(key)) {
      offsets.set(key, data.length);
      writeValue(data, record, pool);
    }
    const bits: number[] =
      network.octetCount === 4 && content.ipVersion === 6 ? Array<number>(96).fill(0) : [];
    for (let bit = 0; bit < network.prefix; bit++)
      bits.push((network.octets[bit >>> 3]! >>> (7 - (bit & 7))) & 1);
    insert(root, bits, { offset: offsets.get(key)! });
  }
  if (content.aliases === true) {
    let v4: WrittenNode | WrittenLeaf | undefined = root;
    for (let bit = 0; bit < 96 && v4 !== undefined && "children" in v4; bit++) v4 = v4.children[0];
    insert(root, (0x2002).toString(2).padStart(16, "0").split("").map(Number), v4);
  }
  return assemble(root, data, content);
}

interface WrittenLeaf {
  readonly offset: number;
}

interface WrittenNode {
  readonly children: [WrittenNode | WrittenLeaf | undefined, WrittenNode | WrittenLeaf | undefined];
}

function readNetwork(text: string): Exclude<ReturnType<typeof networkFromText>, string> {
  const network = networkFromText(text);
  if (typeof network === "string") throw new TypeError(network);
  return network;
}

function insert(
  root: WrittenNode,
  bits: readonly number[],
  leaf: WrittenNode | WrittenLeaf | undefined,
): void {
  if (bits.length === 0) throw new TypeError("a database cannot hold the whole address space as one record");
  let node = root;
  for (const bit of bits.slice(0, -1)) {
    const child = node.children[bit as 0 | 1];
    const next: WrittenNode =
      child !== undefined && "children" in child ? child : { children: [child, child] };
    node.children[bit as 0 | 1] = next;
    node = next;
  }
  node.children[bits.at(-1) as 0 | 1] = leaf;
}

function assemble(root: WrittenNode, data: readonly number[], content: MmdbContent): Uint8Array {
  const numbers = new Map<WrittenNode, number>();
  const nodes: WrittenNode[] = [];
  const number = (node: WrittenNode): void => {
    if (numbers.has(node)) return;
    numbers.set(node, nodes.push(node) - 1);
    for (const child of node.children) if (child !== undefined && "children" in child) number(child);
  };
  number(root);
  const pointer = (child: WrittenNode | WrittenLeaf | undefined): number =>
    child === undefined
      ? nodes.length
      : "children" in child
        ? numbers.get(child)!
        : nodes.length + 16 + child.offset;
  const tree: number[] = [];
  for (const { children } of nodes)
    writeNode(tree, pointer(children[0]), pointer(children[1]), content.recordBits);
  const metadata: number[] = [];
  writeValue(
    metadata,
    {
      node_count: nodes.length,
      record_size: content.recordBits,
      ip_version: content.ipVersion,
      database_type: "Test",
      languages: ["en"],
      binary_format_major_version: 2,
      binary_format_minor_version: 0,
      build_epoch: 1_700_000_000,
      description: { en: "a test" },
    },
    new Map(),
  );
  const marker = [0xab, 0xcd, 0xef, ...new TextEncoder().encode("MaxMind.com")];
  return Uint8Array.from([...tree, ...Array<number>(16).fill(0), ...data, ...marker, ...metadata]);
}

// oxlint-disable-next-line max-params -- two halves of one node and their size
function writeNode(tree: number[], zero: number, one: number, bits: 24 | 28 | 32): void {
  const low = (value: number): number[] => [(value >>> 16) & 255, (value >>> 8) & 255, value & 255];
  if (bits === 24) tree.push(...low(zero), ...low(one));
  else if (bits === 28) tree.push(...low(zero), ((zero >>> 20) & 0xf0) | ((one >>> 24) & 0x0f), ...low(one));
  else tree.push(zero >>> 24, ...low(zero), one >>> 24, ...low(one));
}

/** Texts are written once and pointed at afterwards, as MaxMind's writer does. */
function writeValue(data: number[], value: unknown, pool: Map<string, number>): void {
  if (typeof value === "string") {
    const known = pool.get(value);
    if (known !== undefined && known < 2048) {
      data.push(0x20 | (known >>> 8), known & 255);
      return;
    }
    pool.set(value, data.length);
    const octets = new TextEncoder().encode(value);
    writeHead(data, 2, octets.length);
    data.push(...octets);
  } else if (typeof value === "number") {
    writeHead(data, 6, 4);
    data.push(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);
  } else if (typeof value === "boolean") {
    writeHead(data, 14, value ? 1 : 0);
  } else if (Array.isArray(value)) {
    writeHead(data, 11, value.length);
    for (const item of value) writeValue(data, item, pool);
  } else {
    const entries = Object.entries(value as Record<string, unknown>);
    writeHead(data, 7, entries.length);
    for (const [key, item] of entries) {
      writeValue(data, key, pool);
      writeValue(data, item, pool);
    }
  }
}

function writeHead(data: number[], kind: number, size: number): void {
  const extra = size < 29 ? [] : size < 285 ? [size - 29] : [(size - 285) >>> 8, (size - 285) & 255];
  const code = size < 29 ? size : size < 285 ? 29 : 30;
  if (kind < 8) data.push((kind << 5) | code, ...extra);
  else data.push(code, kind - 7, ...extra);
}
