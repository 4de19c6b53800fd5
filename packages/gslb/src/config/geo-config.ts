import { networkFromText, type GeoNetwork } from "@meridian/dns";
import type { EnvironmentReader } from "./environment-reader.ts";

/** Where the DNS server learns where clients and targets are. */
export interface GeoConfig {
  /** `MERIDIAN_GEOIP_DATABASE`: path of a MaxMind DB. */
  readonly databasePath: string | undefined;
  /** `MERIDIAN_GEOIP_FIELDS`: what of its records is compared, in order. */
  readonly fields: readonly string[];
  /** `MERIDIAN_GEOIP_MAP`: path of a map of networks and countries; then no ConfigMap is read. */
  readonly mapPath: string | undefined;
  /** `MERIDIAN_GEOIP_CONFIG_MAP`: the ConfigMap in the operator's namespace that has such a map under the key `geo.yaml`. */
  readonly configMapName: string;
  /** `MERIDIAN_GEOIP_RESOLVERS`: networks of resolvers whose client subnets count. Absent: all. */
  readonly trusted: readonly GeoNetwork[] | undefined;
}

/** Reads the variables about geography. */
export function parseGeoConfig(reader: EnvironmentReader): GeoConfig {
  const fields = reader.list("MERIDIAN_GEOIP_FIELDS", "country.iso_code,continent.code");
  for (const field of fields.filter((each) => !/^[^.\s]+(\.[^.\s]+)*$/.test(each)))
    reader.refuse(
      "MERIDIAN_GEOIP_FIELDS",
      "hold dotted paths, for example country.iso_code,continent.code",
      field,
    );
  const databasePath = reader.text("MERIDIAN_GEOIP_DATABASE");
  const mapPath = reader.text("MERIDIAN_GEOIP_MAP");
  const configMapName = reader.text("MERIDIAN_GEOIP_CONFIG_MAP", "meridian-geo-map");
  if (!/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/.test(configMapName))
    reader.refuse("MERIDIAN_GEOIP_CONFIG_MAP", "be the name of a ConfigMap, for example meridian-geo-map");
  return {
    databasePath: databasePath === "" ? undefined : databasePath,
    fields: fields.length === 0 ? ["datacenter"] : fields,
    mapPath: mapPath === "" ? undefined : mapPath,
    configMapName,
    trusted: parseResolvers(reader),
  };
}

function parseResolvers(reader: EnvironmentReader): readonly GeoNetwork[] | undefined {
  const texts = reader.list("MERIDIAN_GEOIP_RESOLVERS", "192.0.2.0/24,2001:db8::/32");
  if (texts.length === 0) return undefined;
  return texts.flatMap((text) => {
    const network = networkFromText(text);
    if (typeof network !== "string") return network;
    reader.refuse("MERIDIAN_GEOIP_RESOLVERS", `hold networks, for example 192.0.2.0/24 (${network})`, text);
    return [];
  });
}
