import { isNotFound } from "@meridian/kube";

/** Waits for work on an object that somebody else may have deleted meanwhile, which is then as well. */
export async function ignoringMissing(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
