import { describeClock } from "../contracts/clock-contract.ts";
import type { ContractSubject } from "../contracts/contract-subject.ts";
import { describeDisk } from "../contracts/disk-contract.ts";
import { describeHttp } from "../contracts/http-contract.ts";
import { describeRandom } from "../contracts/random-contract.ts";
import { describeStreams } from "../contracts/stream-contract.ts";
import { describeTcp } from "../contracts/tcp-contract.ts";
import { describeUdp } from "../contracts/udp-contract.ts";
import { Simulation } from "./simulation.ts";

for (const seed of [1, 2, 3]) {
  const subject: ContractSubject = {
    name: `the simulation, seed ${seed}`,
    async run(body) {
      const simulation = new Simulation({ seed });
      const server = simulation.node({ name: "server", addresses: ["10.0.0.1"] });
      const client = simulation.node({ name: "client", addresses: ["10.0.0.2"] });
      const nodes = {
        server: server.runtime,
        client: client.runtime,
        serverAddress: "10.0.0.1",
        clientAddress: "10.0.0.2",
      };
      await simulation.complete(body(nodes));
    },
  };
  describeClock(subject);
  describeRandom(subject);
  describeDisk(subject);
  describeUdp(subject);
  describeTcp(subject);
  describeStreams(subject);
  describeHttp(subject, { name: "by messages" });
}
