/** Everything that a runtime tells of the actors of its place, in one value that two lives can be compared by. */

import type { ActorQuery } from '../../runtime/api/query.ts';
import type { TestRuntime } from '../../simulator/testing.ts';

/** Questions that each order of the test answers to in one way or another. */
const QUERIES: Readonly<Record<string, (now: number) => ActorQuery>> = {
  all: () => ({}),
  kind: () => ({ kind: 'order' }),
  active: () => ({ status: 'active' }),
  done: () => ({ status: 'done' }),
  waiting: () => ({ state: 'waiting' }),
  expired: () => ({ state: 'expired' }),
  tagged: () => ({ tag: 'open' }),
  due: (now) => ({ deadlineBefore: now + 600_000 }),
  stuck: () => ({ stuckFor: 60_000 }),
  pastDue: () => ({ kind: 'order', state: 'waiting', tag: 'open', stuckFor: 119_000 }),
};

type Told = Pick<TestRuntime, 'runtime' | 'now' | 'explain'>;

export async function rowsOf(rt: unknown, addresses: ReadonlyArray<`order/${string}`>) {
  const { runtime, explain, now } = bound(rt as Told);
  const queries = Object.fromEntries(
    Object.entries(QUERIES).map(([name, query]) => [name, runtime.query(query(now())).actors]),
  );
  return {
    queries,
    histories: addresses.map((address) => runtime.history(address)),
    explanations: await Promise.all(addresses.map(explain)),
    snapshots: addresses.map((address) => runtime.actor(address).getPersistedSnapshot()),
    undelivered: runtime.undelivered(),
  };
}

/** What it tells of an empty place. */
export function noRows() {
  const queries = Object.fromEntries(Object.keys(QUERIES).map((name) => [name, []]));
  return { queries, histories: [], explanations: [], snapshots: [], undelivered: [] };
}

function bound(rt: Told) {
  return {
    runtime: rt.runtime,
    now: () => rt.now(),
    explain: (address: string) => rt.explain(address),
  };
}
