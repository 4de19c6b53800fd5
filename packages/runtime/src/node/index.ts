export { nodeRuntime } from "./node-runtime.ts";
