/**
 * Listeners for the abort of a signal, any number of them.
 *
 * One signal often ends hundreds of calls, that of a service for example. It has one listener for
 * all of them, since Node takes more than ten for a leak and says so, and none when nobody waits.
 */

interface Waiting {
  readonly runs: Set<() => void>;
  readonly listener: () => void;
}

const waiting = new WeakMap<AbortSignal, Waiting>();

/** Calls `run` once when the signal is aborted, until the function returned is called. */
export function whenAborted(signal: AbortSignal, run: () => void): () => void {
  const { runs, listener } = waiting.get(signal) ?? begin(signal);
  const own = (): void => run();
  runs.add(own);
  return () => {
    if (!runs.delete(own) || runs.size > 0) return;
    waiting.delete(signal);
    signal.removeEventListener('abort', listener);
  };
}

function begin(signal: AbortSignal): Waiting {
  const runs = new Set<() => void>();
  const listener = (): void => {
    for (const run of [...runs]) run();
  };
  const begun = { runs, listener };
  waiting.set(signal, begun);
  signal.addEventListener('abort', listener, { once: true });
  return begun;
}
