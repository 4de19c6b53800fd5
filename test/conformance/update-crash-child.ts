import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { startUpdatedServer } from "./update-world.ts";

/** A server that takes updates, in a process that a test can kill: `update-crash-child.js FOLDER`. */
const runtime = nodeRuntime({ dataFolder: process.argv[2]!, log: silentLogger });
const server = await startUpdatedServer(runtime, { journal: "u.test.updates" });
console.log(`serving on ${server.at.port}, serial ${server.zone.serial}`);
