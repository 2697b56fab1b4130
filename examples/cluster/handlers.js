/**
 * Handlers of the worker in worker.yml: each exported function is one, by its name.
 *
 * A handler is given the payload as text, tells how far it is, and stops when it is told to. What it
 * returns is the result; what it throws is a failure, and is tried again.
 */

/** Counts the words of a text. */
export async function countWords({ payload }) {
  return payload.split(/\s+/).filter((word) => word !== '').length;
}

/** Looks at one item after the other, and tells after each how far it is. */
export async function visit({ payload, progress, signal }) {
  const items = JSON.parse(payload);
  const seen = [];
  for (const item of items) {
    signal.throwIfAborted();
    seen.push(String(item));
    progress({ completedItems: seen.length, totalItems: items.length });
  }
  return seen;
}
