import type { Clock } from "./clock.ts";
import type { Disk } from "./disk.ts";
import type { Logger } from "./logger.ts";
import type { Network } from "./network.ts";
import type { Random } from "./random.ts";

/** The outside world of one node: everything that is not a pure function of its input. */
export interface Runtime {
  readonly clock: Clock;
  readonly random: Random;
  readonly network: Network;
  readonly disk: Disk;
  readonly log: Logger;
}
