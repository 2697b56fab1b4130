/**
 * Records that the release before has written, one of each form: this one rehearses, restores and goes on
 * with all of them. `former-records.jsonl` was taken from its scenarios and seeds as they ran on it, and from
 * the disk of a system of it that was killed.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type JobContext, jobMachine } from '../../../machines/jobs/job.ts';
import type { Operation } from '../../../machines/jobs/worker-health/context.ts';
import type { WorkerHealthContext } from '../../../machines/jobs/worker-health.ts';
import { workerHealthMachine } from '../../../machines/jobs/worker-health.ts';
import { workerPoolMachine } from '../../../machines/jobs/worker-pool.ts';
import { workflowMachine } from '../../../machines/jobs/workflow.ts';
import {
  HEALTH_OPTIONS,
  JOB_OPTIONS,
  poolToVersion2,
  workflowToVersion2,
} from '../../../programs/jobs/manager/migrations.ts';
import { WORKFLOW_OPTIONS } from '../../../programs/jobs/manager/waiting.ts';
import { kindOf } from '../../../runtime/base/address.ts';
import type { IndexEntry } from '../../../runtime/ports/store.ts';
import { rehearsedKinds } from '../../../runtime/rehearsal/kinds.ts';
import { rehearse } from '../../../runtime/rehearsal/rehearsal.ts';
import { ROOT } from '../../project-files.ts';

interface Former {
  readonly address: string;
  readonly record: {
    readonly snapshot: { readonly value: unknown; readonly context: object };
    readonly timers?: ReadonlyArray<readonly [id: string, dueAt: number]>;
  };
}

const FILE = join(ROOT, 'test', 'jobs', 'restart', 'former-records.jsonl');
const lines = readFileSync(FILE, 'utf8').trim().split('\n');
const former = lines.map((line) => JSON.parse(line) as Former);

const KINDS = {
  job: { machine: jobMachine, ...JOB_OPTIONS },
  'worker-health': { machine: workerHealthMachine, ...HEALTH_OPTIONS },
  'worker-pool': { machine: workerPoolMachine, version: 2, migrate: { 2: poolToVersion2 } },
  workflow: { machine: workflowMachine, ...WORKFLOW_OPTIONS },
};

const ofKind = (kind: string) =>
  former.filter(({ address }) => kindOf(address) === kind).map((one, index) => ({ ...one, index }));

test.each(Object.keys(KINDS))(
  'records of %s are rehearsed, and nothing worse than a note is found',
  (kind) => {
    const records = new Map(
      ofKind(kind).map(({ index, record }) => [`${kind}/${index}@A`, JSON.stringify(record)]),
    );
    const { holds, findings, affected } = rehearse({
      store: {
        entries: () => [...records.keys()].map((address) => [address, { kind } as IndexEntry]),
        load: (address: string) => records.get(address),
        rows: () => [],
      },
      old: undefined,
      next: rehearsedKinds({ kinds: KINDS }),
      only: [kind],
      examplesMax: 3,
    });
    expect(records.size).toBeGreaterThan(0);
    const worse = findings.filter(({ level }) => level !== 'note');
    expect({ holds, worse, affected }).toEqual({ holds: true, worse: [], affected: 0 });
  },
);

describe('the health of a worker', () => {
  test.each(ofKind('worker-health'))('$index: $record.snapshot.value', ({ record }) => {
    const { snapshot } = record;
    const timers = (record.timers ?? []).map(([id, dueAt]) => ({ id, dueAt }));
    const after = HEALTH_OPTIONS.migrate[2]({ snapshot, timers });
    const { value, context } = after.snapshot as typeof snapshot;
    const { deadline, lastHeardAt, rules, pending } = context as WorkerHealthContext;
    const credit = pending.length > 0 ? 'awaitingCredits' : 'settled';
    const { trusted } = snapshot.value as { readonly trusted?: { readonly standing: string } };
    const others: Record<string, unknown> = {
      suspect: { suspect: credit },
      evicted: { evicted: 'silent' },
    };
    expect(value).toEqual(
      trusted === undefined
        ? others[snapshot.value as string]
        : { trusted: { hearing: {}, standing: trusted.standing, credit, contact: 'heard' } },
    );
    expect(lastHeardAt).toBe(deadline - rules.baseDeadlineMs);
    expect(after.timers.map(({ dueAt }) => dueAt)).toEqual(timers.map(({ dueAt }) => dueAt));
  });

  test.each(ofKind('worker-health'))('keeps its operations: $index', ({ record }) => {
    const { snapshot } = record;
    const was = snapshot.context as { readonly operations: Readonly<Record<string, Operation>> };
    const after = HEALTH_OPTIONS.migrate[3]({ snapshot, timers: [] });
    const { operations, grantHolders } = (after.snapshot as typeof snapshot)
      .context as WorkerHealthContext;
    expect(operations.toJSON()).toEqual(was.operations);
    const orderOf = ([, { grantOrder = 0 }]: readonly [string, Operation]) => grantOrder;
    const holders = Object.entries(was.operations)
      .filter(([, { grants = 0 }]) => grants > 0)
      .sort((one, other) => orderOf(one) - orderOf(other));
    expect([...grantHolders.values()]).toEqual(holders.map(([id]) => id));
  });
});

describe('a job', () => {
  test.each(ofKind('job'))('$index: $record.snapshot.value', ({ record }) => {
    const { snapshot } = record;
    const timers = (record.timers ?? []).map(([id, dueAt]) => ({ id, dueAt }));
    const after = JOB_OPTIONS.migrate[2]({ snapshot, timers });
    const { value, context } = after.snapshot as typeof snapshot;
    const { status, isFinalKnown } = context as JobContext;
    expect(after.timers).toEqual(timers);
    expect(context).toEqual(snapshot.context);
    const was = snapshot.value as { readonly active?: object } | string;
    if (was === 'ending')
      expect(value).toMatchObject({
        ending: { outcome: status, telling: isFinalKnown ? 'told' : 'untold' },
      });
    else if (typeof was === 'string') expect(value).toBe(was);
    else expect(value).toMatchObject({ active: { ...was.active, hearing: {}, decisions: {} } });
  });
});

describe('a workflow', () => {
  test.each(ofKind('workflow'))('$index: $record.snapshot.value', ({ record: { snapshot } }) => {
    const after = workflowToVersion2({ snapshot, timers: [] });
    const { PENDING } = snapshot.value as { readonly PENDING?: string };
    expect((after.snapshot as typeof snapshot).value).toEqual(
      PENDING === 'asking' ? { PENDING: 'queued' } : snapshot.value,
    );
  });
});
