/** Checks that the engine did what it was measured for: turns, marks, history, index. */

import type { createRuntime, memoryStore } from '../index.ts';

export interface Work {
  readonly name: string;
  readonly runtime: Awaited<ReturnType<typeof createRuntime>>;
  readonly store: ReturnType<typeof memoryStore>;
  /** Messages that were sent, each once. */
  readonly taken: number;
  readonly addresses: readonly string[];
  readonly senders: readonly string[];
  readonly sendersPerActor: number;
}

/** Fails loudly unless every message led to a stored turn of its own. */
export function checkWork(work: Work): void {
  const { name, runtime, store, taken, addresses, senders, sendersPerActor } = work;
  let turns = 0;
  for (const address of addresses) {
    const record = store.load(address) ?? '';
    const marks = senders.filter((sender) => record.includes(`"${sender}":[`)).length;
    expect(name, `marks of ${address}`, marks, sendersPerActor);
    const rows = runtime.history(address);
    const last = rows.at(-1);
    expect(name, `rows of history of ${address}`, rows.length, Math.min(last?.turn ?? 0, 100));
    const from = last?.from ?? '';
    expect(name, `a known sender in the history of ${address}`, senders.includes(from), true);
    turns += last?.turn ?? 0;
  }
  expect(name, 'turns in the histories', turns, taken);
  expect(name, 'actors in the index', countOf(runtime, {}), addresses.length);
  const running = countOf(runtime, { state: '{"running":"working"}' });
  if (running < addresses.length * 0.9)
    throw new Error(`${name}: the index finds ${running} running jobs.`);
  expect(name, 'messages nobody took', runtime.undelivered().length, 0);
}

function countOf(runtime: Work['runtime'], query: { readonly state?: string }): number {
  let count = 0;
  let cursor: string | undefined;
  do {
    const page = runtime.query({ kind: 'job', limit: 1_000, ...query, ...(cursor && { cursor }) });
    count += page.actors.length;
    cursor = page.cursor;
  } while (cursor !== undefined);
  return count;
}

function expect(name: string, what: string, found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${name}: ${what}: ${found} instead of ${expected}.`);
}
