import { createHmac } from "node:crypto";
import { parseTsigKey, type TsigKey } from "@meridian/dns";

const secret = Buffer.alloc(32, 7);
const keyName = Buffer.from("\x01k\x00", "latin1");
const algorithm = Buffer.from("\x0bhmac-sha256\x00", "latin1");
const fudgeSeconds = 300;

/** The one key that fuzzed requests are signed with. */
export const fuzzKey: TsigKey = parseTsigKey({
  name: "k",
  algorithm: "hmac-sha256",
  secret: secret.toString("base64"),
});

/** Signs whatever the octets are, as RFC 8945 §4.3 says; written apart from the code under test. */
export function signRequest(message: Uint8Array, seconds: number): Uint8Array {
  const time = Buffer.alloc(8);
  time.writeUIntBE(seconds, 0, 6);
  time.writeUInt16BE(fudgeSeconds, 6);
  const none = Buffer.alloc(4);
  const anyClass = Buffer.from([0, 255, 0, 0, 0, 0]);
  const mac = createHmac("sha256", secret)
    .update(Buffer.concat([message, keyName, anyClass, algorithm, time, none]))
    .digest();
  const macLength = Buffer.from([0, mac.length]);
  const rdata = Buffer.concat([algorithm, time, macLength, mac, message.subarray(0, 2), none]);
  const rdataLength = Buffer.from([rdata.length >> 8, rdata.length]);
  const signed = Buffer.concat([message, keyName, Buffer.from([0, 250]), anyClass, rdataLength, rdata]);
  signed.writeUInt16BE((signed.readUInt16BE(10) + 1) & 0xffff, 10);
  return signed;
}
