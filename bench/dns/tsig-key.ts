/** The key of all updates in the bench. No secret: it never leaves loopback. */
export const benchKey: { readonly name: string; readonly algorithm: string; readonly secret: string } = {
  name: "bench-key",
  algorithm: "hmac-sha256",
  secret: Buffer.from("meridian bench, 32 octets of key").toString("base64"),
};
