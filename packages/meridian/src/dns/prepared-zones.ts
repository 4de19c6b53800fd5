import {
  foldNameText,
  TransferPolicy,
  type AccessRule,
  type NotifyTarget,
  type Primary,
  type SigningKeys,
  type UpdateRule,
  type Zone,
} from "@meridian/dns";
import { messageOf } from "../meridian-error.ts";
import type { FileZoneSettings, SecondaryZoneSettings, ServerSettings } from "./dns-settings.ts";
import type { DnsMaterials } from "./read-materials.ts";

/** A zone of a file as it shall be served: read and checked, with nothing changed yet. */
export interface PreparedFileZone {
  readonly settings: FileZoneSettings;
  readonly zone: Zone;
  /** What tells whether the file is another. */
  readonly stamp: string;
  /** Was read now, and is not served yet. */
  readonly isNew: boolean;
  readonly signing: SigningKeys | undefined;
  readonly notify: readonly NotifyTarget[];
}

/** A zone of others as it shall be followed. */
export interface PreparedSecondary {
  readonly settings: SecondaryZoneSettings;
  /** Folded, without the trailing dot. */
  readonly origin: string;
  readonly primaries: readonly Primary[];
  readonly notify: readonly NotifyTarget[];
}

export type PreparedZone = PreparedFileZone | PreparedSecondary;

export function originOf(prepared: PreparedZone): string {
  return "zone" in prepared ? prepared.zone.origin : prepared.origin;
}

/** Puts the keys and certificates in that the settings name. */
export function prepareSecondary(
  settings: SecondaryZoneSettings,
  materials: DnsMaterials,
  problems: string[],
): PreparedSecondary | undefined {
  const primaries = settings.primaries.map(({ tls, ...server }): Primary => {
    if (tls === undefined) return withKey(server, materials);
    const caPem = tls.ca && materials.cas.get(tls.ca.path);
    const { serverName } = tls;
    return {
      ...withKey(server, materials),
      tls: { ...(serverName === undefined ? {} : { serverName }), ...(caPem === undefined ? {} : { caPem }) },
    };
  });
  try {
    const origin = foldNameText(settings.origin);
    return { settings, origin, primaries, notify: serversOf(settings.notify, materials) };
  } catch (error) {
    problems.push(`${settings.at}: the origin is no domain name: ${messageOf(error)}`);
    return undefined;
  }
}

/** Servers with their keys. */
export function serversOf(
  servers: readonly ServerSettings[],
  materials: DnsMaterials,
): readonly NotifyTarget[] {
  return servers.map((server) => withKey(server, materials));
}

/** @throws DnsError for a grant that cannot be read */
export function transferPolicyOf(prepared: readonly PreparedZone[]): TransferPolicy {
  return new TransferPolicy(
    prepared.map((zone): AccessRule => ({
      zone: originOf(zone),
      allow: zone.settings.transfers.map(({ key, clients }) => ({
        ...(key === undefined ? {} : { key: key.name }),
        ...(clients === undefined ? {} : { clients }),
      })),
    })),
  );
}

export function updateRulesOf({ updates }: FileZoneSettings): readonly UpdateRule[] {
  return (updates?.rules ?? []).map(({ key, ...rule }) => ({ ...rule, key: key.name }));
}

function withKey({ address, port, key }: ServerSettings, { keys }: DnsMaterials): NotifyTarget {
  const found = key && keys.get(foldNameText(key.name));
  return { address, port, ...(found === undefined ? {} : { key: found }) };
}
