/** Asks again, a few times a second, until `check` returns without throwing; then returns its value. */
export async function eventually<T>(
  what: string,
  check: () => Promise<T> | T,
  options: { readonly withinMs?: number; readonly everyMs?: number } = {},
): Promise<T> {
  const deadline = performance.now() + (options.withinMs ?? 20_000);
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) {
        throw new Error(`${what}: not within ${options.withinMs ?? 20_000} ms`, { cause: error });
      }
    }
    await new Promise((resolve) => setTimeout(resolve, options.everyMs ?? 100));
  }
}

/** Asks for the whole of `forMs` and fails at the first time that `check` throws: for what must not change. */
export async function throughout(
  what: string,
  check: () => Promise<void> | void,
  options: { readonly forMs: number; readonly everyMs?: number },
): Promise<void> {
  const deadline = performance.now() + options.forMs;
  do {
    try {
      await check();
    } catch (error) {
      throw new Error(`${what}: broken ${Math.round(deadline - performance.now())} ms before the end`, {
        cause: error,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, options.everyMs ?? 100));
  } while (performance.now() < deadline);
}
