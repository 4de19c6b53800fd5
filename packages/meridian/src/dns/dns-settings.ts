import type {
  AuthorityOptions,
  GeoSettings,
  RateLimitOptions,
  RecordSet,
  TcpLimits,
  UpdateRule,
  ZoneKeysOptions,
} from "@meridian/dns";
import type { Endpoint } from "@meridian/runtime";
import type { Datapath } from "../fleet/child-protocol.ts";

/** A file, and how messages about it begin: where it is named. */
export interface NamedFile {
  readonly path: string;
  readonly at: string;
}

/** Everything that `meridian dns` is told, from flags and its configuration file. Paths are absolute. */
export interface DnsSettings {
  readonly listen: readonly Endpoint[];
  readonly datapath: Datapath;
  /** Threads for each endpoint of `listen`. */
  readonly workers: number;
  readonly answers: Pick<
    AuthorityOptions,
    "udpPayloadBytesMax" | "version" | "serverId" | "badCookie" | "ednsSubnet"
  >;
  readonly proxies: readonly string[];
  readonly tcp: TcpLimits;
  readonly rateLimit: RateLimitOptions | "off";
  readonly cookieSecrets: NamedFile | undefined;
  readonly tls: TlsSettings | undefined;
  readonly https: { readonly listen: readonly Endpoint[]; readonly path?: string } | undefined;
  readonly metrics: Endpoint | undefined;
  readonly queryLog: QueryLogSettings | undefined;
  readonly geo: GeoSettings | undefined;
  readonly keys: readonly KeySettings[];
  readonly zones: readonly ZoneSettings[];
}

export interface TlsSettings {
  readonly certificate: NamedFile;
  readonly privateKey: NamedFile;
  /** For DNS over TLS; HTTPS has its own. */
  readonly listen: readonly Endpoint[];
}

export interface QueryLogSettings {
  /** `-` is standard output. */
  readonly path: string;
  readonly format?: "json" | "text";
  readonly rate?: number;
}

/** TSIG keys: one that is written down here, but for its secret perhaps, or all of a file as `tsig-keygen` writes it. */
export type KeySettings =
  | {
      readonly kind: "named";
      readonly at: string;
      readonly name: string;
      readonly algorithm: string;
      readonly secret: string | NamedFile;
    }
  | { readonly kind: "file"; readonly file: NamedFile };

/** The name of a TSIG key that must be there, and where it is named. */
export interface KeyReference {
  readonly name: string;
  readonly at: string;
}

/** A server, and the key that is used with it. */
export interface ServerSettings extends Endpoint {
  readonly key?: KeyReference;
}

/** Who may have a zone. */
export interface GrantSettings {
  readonly key?: KeyReference;
  readonly clients?: string;
}

interface CommonZoneSettings {
  readonly at: string;
  readonly transfers: readonly GrantSettings[];
  readonly notify: readonly ServerSettings[];
}

export interface FileZoneSettings extends CommonZoneSettings {
  readonly kind: "file";
  /** Absent: that of the file's SOA record. */
  readonly origin?: string;
  readonly file: NamedFile;
  /** Sets that are put in beside, or in place of, what the file has: those of which each answer is another choice. */
  readonly choices: readonly { readonly at: string; readonly set: RecordSet }[];
  /** Absent: the zone takes no updates. */
  readonly updates?: {
    readonly journal: NamedFile;
    readonly rules: readonly (Omit<UpdateRule, "key"> & { readonly key: KeyReference })[];
  };
  readonly signing?: SigningSettings;
}

export interface SecondaryZoneSettings extends CommonZoneSettings {
  readonly kind: "secondary";
  readonly origin: string;
  readonly primaries: readonly (ServerSettings & { readonly tls?: PrimaryTlsSettings })[];
  readonly copyFolder?: string;
}

export type ZoneSettings = FileZoneSettings | SecondaryZoneSettings;

/** Whom a primary must prove to be. */
export interface PrimaryTlsSettings {
  /** In the certificate. Absent: the primary's address. */
  readonly serverName?: string;
  /** Absent: the CAs that Node knows. */
  readonly ca?: NamedFile;
}

export interface SigningSettings extends ZoneKeysOptions {
  /** A folder of BIND's key files; those of the zone are taken. */
  readonly keys: NamedFile;
  /** `.key` files of other clusters that sign the zone, too (RFC 8901 model 2). */
  readonly foreignKeys: readonly NamedFile[];
}
