/**
 * Waits for what a test expects of the outside: another process, a socket, a disk.
 *
 * A busy machine is slow, and no test may fail for that: what does not come is given up only after
 * minutes, with the reason why it was not right at last.
 */

const PATIENCE_MS = 120_000;
const INTERVAL_MS = 10;

/** Checks until it does not throw. @throws what it has thrown last, when that never happens */
export async function eventually<T>(check: () => Promise<T> | T): Promise<T> {
  const endsAt = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await check();
    } catch (thrown) {
      if (performance.now() > endsAt) throw thrown;
    }
    await pause();
  }
}

/** Looks until there is something that satisfies: anything but undefined and false, unless told otherwise. */
export function until<T>(
  look: () => Promise<T> | T,
  satisfies: (found: T) => boolean = (found) => found !== undefined && found !== false,
): Promise<T> {
  return eventually(async () => {
    const found = await look();
    if (satisfies(found)) return found;
    throw new Error(`It did not come to what is waited for: ${JSON.stringify(found)}.`);
  });
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
}
