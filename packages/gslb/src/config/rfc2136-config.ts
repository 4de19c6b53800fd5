import { canonicalName, hostNameProblem } from "../decide/dns-name.ts";
import { parseServerAddress, type EnvironmentReader, type ServerAddress } from "./environment-reader.ts";

/** Where and by which key the delegation is written into parent zones by dynamic update (RFC 2136). */
export interface Rfc2136Config {
  /** `MERIDIAN_RFC2136_SERVERS`: the primaries, in order; none where the SOA of each parent zone is to tell. */
  readonly servers: readonly ServerAddress[];
  /** `MERIDIAN_RFC2136_KEY_FILE`: keys beside those in Secrets. */
  readonly keyFile: string | undefined;
  /** `MERIDIAN_RFC2136_KEYS`: the names of keys, canonical, by parent zone. */
  readonly keyNames: ReadonlyMap<string, string>;
  /** `MERIDIAN_RFC2136_UNSIGNED`: the primaries trust the address that updates come from. */
  readonly unsigned: boolean;
}

const variables = [
  "MERIDIAN_RFC2136_SERVERS",
  "MERIDIAN_RFC2136_KEY_FILE",
  "MERIDIAN_RFC2136_KEYS",
  "MERIDIAN_RFC2136_UNSIGNED",
] as const;

/** The word that stands for the primary that a parent zone's SOA names. */
const soaWord = "soa";

/** Reads the variables that start with `MERIDIAN_RFC2136_`; `undefined` where no server is named. */
export function parseRfc2136Config(reader: EnvironmentReader): Rfc2136Config | undefined {
  const [servers, ...others] = variables;
  if (!reader.isSet(servers)) {
    for (const variable of others.filter((each) => reader.isSet(each)))
      reader.refuse(variable, `be unset where ${servers} is; set that to the primary of the parent zone`);
    return undefined;
  }
  const keyFile = reader.text("MERIDIAN_RFC2136_KEY_FILE");
  const unsigned = reader.flag("MERIDIAN_RFC2136_UNSIGNED", false);
  const keyNames = parseKeyNames(reader);
  if (unsigned && (keyFile !== "" || keyNames.size > 0))
    reader.refuse("MERIDIAN_RFC2136_UNSIGNED", "be false where a key is named: a key signs");
  return {
    servers: parseServers(reader),
    keyFile: keyFile === "" ? undefined : keyFile,
    keyNames,
    unsigned,
  };
}

function parseServers(reader: EnvironmentReader): readonly ServerAddress[] {
  const items = reader.list("MERIDIAN_RFC2136_SERVERS", "10.0.0.53,[2001:db8::53]:5353");
  if (items.length === 1 && items[0] === soaWord) return [];
  return items.flatMap((item) => {
    const server = parseServerAddress(item, 53);
    if (server === undefined || item === soaWord)
      reader.refuse(
        "MERIDIAN_RFC2136_SERVERS",
        `hold servers as host or host:port, or be ${soaWord}, for example 10.0.0.53,[2001:db8::53]:5353`,
        item,
      );
    return server ?? [];
  });
}

function parseKeyNames(reader: EnvironmentReader): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const item of reader.list("MERIDIAN_RFC2136_KEYS", "example.com=eu-key,example.org=other-key")) {
    const [zone = "", key = "", ...more] = item.split("=");
    if (more.length > 0 || hostNameProblem(zone) !== undefined || hostNameProblem(key) !== undefined)
      reader.refuse(
        "MERIDIAN_RFC2136_KEYS",
        "hold zone=key, for example example.com=eu-key,example.org=other-key",
        item,
      );
    else names.set(canonicalName(zone), canonicalName(key));
  }
  return names;
}
