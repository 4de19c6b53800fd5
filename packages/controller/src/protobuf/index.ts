/**
 * Protobuf in place of JSON, for copies of the kinds that Kubernetes has built in.
 *
 * @module @meridian/controller/protobuf
 */

export { protobuf } from "./protobuf.ts";
