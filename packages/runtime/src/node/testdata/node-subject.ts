import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { ContractSubject } from "../../contracts/contract-subject.ts";
import { silentLogger } from "../../logger.ts";
import { nodeRuntime } from "../node-runtime.ts";

/** This machine, for the contract suites: server and client are the same node. */
export const nodeSubject: ContractSubject = {
  name: "this machine",
  async run(body) {
    const dataFolder = await mkdtemp(join(tmpdir(), "meridian-runtime-"));
    try {
      const runtime = nodeRuntime({ dataFolder, log: silentLogger });
      const address = "127.0.0.1";
      await body({ server: runtime, client: runtime, serverAddress: address, clientAddress: address });
    } finally {
      await rm(dataFolder, { recursive: true, force: true });
    }
  },
};
