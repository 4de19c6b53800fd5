import type { Command } from "../cli/command.ts";
import { apiserverCommand } from "./apiserver.ts";
import { childCommands } from "./cluster.ts";
import { crdsCommand } from "./crds.ts";
import { demoFailoverCommand } from "./demo-failover.ts";
import { dnsCheckCommand } from "./dns-check.ts";
import { dnsKeygenCommand } from "./dns-keygen.ts";
import { dnsCommand } from "./dns.ts";
import { downCommand } from "./down.ts";
import { explainCommand } from "./explain.ts";
import { labCommand } from "./lab.ts";
import { operatorCommand } from "./operator.ts";
import { startCommand } from "./start.ts";
import { statusCommand } from "./status.ts";
import { upCommand } from "./up.ts";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  upCommand,
  statusCommand,
  explainCommand,
  demoFailoverCommand,
  startCommand,
  downCommand,
  labCommand,
  operatorCommand,
  crdsCommand,
  apiserverCommand,
  // Before the command whose words they begin with.
  dnsCheckCommand,
  dnsKeygenCommand,
  dnsCommand,
  ...childCommands,
];
