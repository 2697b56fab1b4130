/**
 * Records of a gate of the release before, which had a phase and an answer for each datacenter: this one goes
 * on with them. They were written by that release, in former-records.json.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type GateJobContext, gateJobMachine } from '../../../machines/jobs/gate-job.ts';
import { GATE_JOB_OPTIONS } from '../../../programs/jobs/gate/migrations.ts';
import type { Store } from '../../../runtime/ports/store.ts';
import { rehearsedKinds } from '../../../runtime/rehearsal/kinds.ts';
import { rehearse } from '../../../runtime/rehearsal/rehearsal.ts';
import { testRuntime } from '../../../simulator/testing.ts';
import { memoryStore } from '../../../stores/memory.ts';

const ADDRESS = 'gate-job/j1@gate-1';
const RECORDS = JSON.parse(
  readFileSync(join(import.meta.dirname, 'former-records.json'), 'utf8'),
) as Record<string, object>;
const KIND = { machine: gateJobMachine, ...GATE_JOB_OPTIONS };

function storeOf(record: object): Store {
  const store = memoryStore();
  const entry = { kind: 'gate-job', state: '', status: 'active', tags: [], dueAt: 0 };
  const write = { address: ADDRESS, record: JSON.stringify(record), entry, history: [] };
  store.commit({ shard: 'gate-1', fence: 1, writes: [write as never] }, () => {});
  return store;
}

test.each(Object.keys(RECORDS))('%s: the rehearsal of the upgrade holds', (name) => {
  const rehearsal = rehearse({
    store: storeOf(RECORDS[name] as object),
    old: undefined,
    next: rehearsedKinds({ kinds: { 'gate-job': KIND } }),
    examplesMax: 3,
  });
  expect(rehearsal.findings.filter(({ level }) => level !== 'note')).toEqual([]);
  expect(rehearsal).toMatchObject({ holds: true, records: 1 });
});

/** The state and the datacenters as the first turn of this release finds them. */
async function taken(name: string) {
  const runtime = await testRuntime({
    kinds: { 'gate-job': gateJobMachine },
    node: 'gate-1',
    store: storeOf(RECORDS[name] as object),
    options: {
      'gate-job': {
        ...GATE_JOB_OPTIONS,
        perform: {
          note: () => {},
          dispatchTo: () => {},
          findStatus: () => {},
          fetchRules: () => {},
        },
      },
    } as never,
  });
  await runtime.settle();
  const { value, context } = runtime.actor(ADDRESS).getSnapshot() as {
    readonly value: unknown;
    readonly context: GateJobContext;
  };
  const states = Object.entries(context.datacenters).map(
    ([datacenter, { run, decision, contact }]) => `${datacenter} ${run} ${decision} ${contact}`,
  );
  return { value, states, context, runtime };
}

test.each([
  ['asked', 'dispatching', ['A asked none heard', 'B asked none heard', 'C asked none heard']],
  [
    'tracking',
    { recovering: 'listening' },
    ['A running none catchingUp', 'B reported none catchingUp', 'C running none catchingUp'],
  ],
  [
    'declaring-quorum',
    { recovering: 'listening' },
    [
      'A reported accepted catchingUp',
      'B running deferred catchingUp',
      'C running gone catchingUp',
    ],
  ],
  ['settled', { settled: 'confirming' }, ['A final none heard', 'B late sent heard']],
])(
  '%s: each datacenter is where it was, and is asked how things are now',
  async (name, value, states) => {
    const seen = await taken(name);
    expect(seen.value).toEqual(value);
    expect(seen.states).toEqual(states);
  },
);

test.each([
  ['declaring-overall', 'overall'],
  ['declaring-quorum', 'datacenterTimeout'],
  ['declaring-stuck', 'allDatacentersStuck'],
])('%s: a declaration goes on for its reason', async (name, reason) => {
  const { runtime, context } = await taken(name);
  expect(context.decision).toMatchObject({ reason });
  await runtime.advance('20.001s');
  expect(runtime.actor(ADDRESS).getSnapshot().value).toEqual({ declaring: reason });
});
