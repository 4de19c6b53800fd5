import type { KubeObject } from "@meridian/kube";
import { Simulation } from "@meridian/runtime/sim";
import { playProgram } from "./play-program.ts";
import type { ModelOptions } from "./play-program.ts";
import { randomProgram } from "./program.ts";
import type { Act, Program } from "./program.ts";

/** How many programs to play, and which. */
export interface CheckOptions<T extends KubeObject = KubeObject> extends ModelOptions<T> {
  /** Default 50. */
  readonly runs?: number;
  /** The same seed plays the same programs. Default 1. */
  readonly seed?: number;
  /** Acts of a program, at most. Default 60. */
  readonly length?: number;
}

/** Attempts to find a shorter program that fails as well. */
const shrinksMax = 400;

/**
 * Plays random programs of writes, cuts, compactions and refusals over copies of a collection and your handlers, and checks
 * that every copy ends equal to the truth and that each handler saw a history that could have happened: no update before the
 * add, nothing after the delete, the final state last.
 *
 * ```ts
 * test("the addresses follow the services, whatever happens", () =>
 *   checkCopies({
 *     type: services,
 *     object: ({ name, namespace, labels, value }) => service(name, namespace, labels, `10.0.0.${value % 250}`),
 *     subject: () => {
 *       const book = new AddressBook();
 *       return { handler: book.handler, check: (objects) => assert.deepEqual(book.addresses(), addressesOf(objects)) };
 *     },
 *   }));
 * ```
 *
 * @throws Error with a short program that fails, to be played again by `playProgram`
 */
export async function checkCopies<T extends KubeObject = KubeObject>(
  options: CheckOptions<T> = {},
): Promise<void> {
  const { runs = 50, seed = 1, length = 60 } = options;
  const random = new Simulation({ seed }).random("programs");
  for (let run = 1; run <= runs; run++) {
    const program = randomProgram(random, length);
    const failure = await failureOf(program, options);
    if (failure === undefined) continue;
    const short = await shrunk(program, options);
    const error = (await failureOf(short, options)) ?? failure;
    throw new Error(
      `program ${run} of seed ${seed} fails: ${error.message}\nplayProgram(${JSON.stringify(short)})`,
      { cause: error },
    );
  }
}

async function failureOf<T extends KubeObject>(
  program: Program,
  options: ModelOptions<T>,
): Promise<Error | undefined> {
  try {
    await playProgram(program, options);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Leaves acts out, many and then few, as long as the rest fails. */
async function shrunk<T extends KubeObject>(program: Program, options: ModelOptions<T>): Promise<Program> {
  let acts: readonly Act[] = program.acts;
  let attempts = 0;
  for (let size = Math.ceil(acts.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < acts.length && attempts < shrinksMax;) {
      attempts++;
      const fewer = [...acts.slice(0, at), ...acts.slice(at + size)];
      if ((await failureOf({ ...program, acts: fewer }, options)) === undefined) at += size;
      else acts = fewer;
    }
  }
  return { ...program, acts };
}
