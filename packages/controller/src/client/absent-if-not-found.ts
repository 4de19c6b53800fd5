import { isNotFound } from "@meridian/kube";

/** What was read, or `undefined` where the server says that there is no such object. @throws every other failure */
export async function absentIfNotFound<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
