import { createHmac } from "node:crypto";
import { origin } from "./bench-zone.ts";
import { rawName } from "./raw-question.ts";
import { benchKey } from "./tsig-key.ts";

export interface AddressUpdate {
  readonly id: number;
  readonly name: string;
  readonly addresses: readonly string[];
  /** Seconds since the epoch, for TSIG. */
  readonly timeSeconds: number;
}

/** An UPDATE (RFC 2136) that puts these addresses in place of a name's A records, signed with the bench's key (RFC 8945). */
export function composeAddressUpdate(update: AddressUpdate): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(update.id, 0);
  header.writeUInt16BE(5 << 11, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(1 + update.addresses.length, 8);
  const zone = Buffer.concat([rawName(origin), uint16(types.soa), uint16(classes.internet)]);
  const owner = rawName(update.name);
  const removal = record(owner, { type: types.a, class: classes.any, ttl: 0, rdata: Buffer.alloc(0) });
  const additions = update.addresses.map((address) =>
    record(owner, {
      type: types.a,
      class: classes.internet,
      ttl: 30,
      rdata: Buffer.from(address.split(".").map(Number)),
    }),
  );
  return signed(Buffer.concat([header, zone, removal, ...additions]), update.timeSeconds);
}

const types = { a: 1, soa: 6, tsig: 250 } as const;
const classes = { internet: 1, any: 255 } as const;

/** Appends the TSIG record (RFC 8945 §4.2). */
function signed(message: Buffer, timeSeconds: number): Buffer {
  const key = rawName(benchKey.name);
  const time = Buffer.alloc(6);
  time.writeUIntBE(timeSeconds, 0, 6);
  const algorithmTimeFudge = Buffer.concat([rawName(benchKey.algorithm), time, uint16(300)]);
  const noError = Buffer.alloc(4); // error 0, no other data
  const mac = createHmac("sha256", Buffer.from(benchKey.secret, "base64"))
    .update(message)
    .update(Buffer.concat([key, uint16(classes.any), Buffer.alloc(4), algorithmTimeFudge, noError]))
    .digest();
  const rdata = Buffer.concat([algorithmTimeFudge, uint16(mac.length), mac, message.subarray(0, 2), noError]);
  const result = Buffer.concat([
    message,
    record(key, { type: types.tsig, class: classes.any, ttl: 0, rdata }),
  ]);
  result.writeUInt16BE(1, 10);
  return result;
}

function record(
  owner: Buffer,
  fields: { readonly type: number; readonly class: number; readonly ttl: number; readonly rdata: Buffer },
): Buffer {
  const ttl = Buffer.alloc(4);
  ttl.writeUInt32BE(fields.ttl);
  return Buffer.concat([
    owner,
    uint16(fields.type),
    uint16(fields.class),
    ttl,
    uint16(fields.rdata.length),
    fields.rdata,
  ]);
}

function uint16(value: number): Buffer {
  const octets = Buffer.alloc(2);
  octets.writeUInt16BE(value);
  return octets;
}
