import type { Endpoint } from "@meridian/runtime";

/** Where the informer lab is to be: at its usual place or near it, at a place of the user's, or nowhere. */
export type LabListen = Endpoint | "default" | "off";

/** Where `meridian lab` and the playground serve the page, unless they are told. */
export const labEndpoint: Endpoint = { address: "127.0.0.1", port: 8090 };
