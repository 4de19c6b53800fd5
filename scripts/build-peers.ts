import { peerNames, peerProgram } from "../e2e/harness/peer-programs.ts";

/** Builds the servers that tests and benches meet: `build-peers.js [NAME...]`, all without a name. */
const names = process.argv.length > 2 ? process.argv.slice(2) : peerNames;
for (const name of names) {
  const known = peerNames.find((peer) => peer === name);
  if (known === undefined) throw new Error(`there is no peer "${name}": choose from ${peerNames.join(", ")}`);
  console.log(`${name}: ${await peerProgram(known)}`);
}
