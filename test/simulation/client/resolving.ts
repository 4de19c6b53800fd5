import { DnsClient } from "@meridian/dns";
import type { Runtime } from "@meridian/runtime";
import type { Application } from "../fleet/application.ts";
import { between, pick } from "../fleet/draws.ts";
import { clientAddress, parentAddress, placeOf, tags, type Tag } from "../fleet/fleet-map.ts";

/** What a resolver got for a host. */
export interface Resolution {
  readonly application: Application;
  /** Addresses of the name servers in the parent's referral; `undefined` where the parent was not reached. */
  readonly referral: readonly string[] | undefined;
  /** The first of the delegated servers that answered, with its targets of both families. */
  readonly answer?: { readonly tag: Tag; readonly targets: readonly string[] };
}

export interface ResolvingOptions {
  readonly applications: readonly Application[];
  readonly onStart: () => void;
  readonly onResolved: (resolution: Resolution) => void;
}

const deadlineMs = 600;

/** Resolves hosts as a resolver on the network does: asks the parent, follows its referral, tries server after server. For ever. */
export async function resolveForEver(runtime: Runtime, options: ResolvingOptions): Promise<void> {
  const client = new DnsClient(runtime, { from: clientAddress });
  for (;;) {
    await runtime.clock.sleep(between(runtime.random, 500, 4_000));
    const application = pick(runtime.random, options.applications);
    options.onStart();
    const referral = await askParent(client, application);
    const answer =
      referral === undefined ? undefined : await askDelegated(runtime, client, { application, referral });
    options.onResolved({ application, referral, ...(answer === undefined ? {} : { answer }) });
  }
}

async function askParent(
  client: DnsClient,
  { question }: Application,
): Promise<readonly string[] | undefined> {
  const servers = [{ address: parentAddress, port: 53 }];
  const verdict = await client.query({ name: question, type: "A", servers, deadlineMs });
  if (verdict.state !== "answered") return undefined;
  return verdict.additional.filter(({ type }) => type === "A").map(({ data }) => data);
}

async function askDelegated(
  runtime: Runtime,
  client: DnsClient,
  of: { readonly application: Application; readonly referral: readonly string[] },
): Promise<Resolution["answer"]> {
  const { application, referral } = of;
  const delegated = tags.filter((tag) => referral.includes(placeOf(tag).dns.address));
  const first = pick(runtime.random, tags);
  for (const tag of delegated.toSorted((a, b) => Number(b === first) - Number(a === first))) {
    const ask = (type: string): ReturnType<DnsClient["query"]> =>
      client.query({ name: application.question, type, servers: [placeOf(tag).dns], deadlineMs });
    const verdicts = await Promise.all([ask("A"), ask("AAAA")]);
    const records = verdicts.map((verdict) => (verdict.state === "answered" ? verdict.records : undefined));
    if (records.includes(undefined)) continue;
    return { tag, targets: records.flatMap((each) => (each ?? []).map(({ data }) => data)) };
  }
  return undefined;
}
