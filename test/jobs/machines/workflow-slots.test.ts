import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  answered,
  attemptLost,
  CANCEL,
  cancelAnswered,
  dispatched,
  failure,
  granted,
  newWorkflow,
  PARENT_FAILED,
  POOL,
  pausing,
  progress,
  READY,
  rejected,
  result,
  running,
  stopped,
  type Workflow,
  workerLost,
} from './workflow-scenes.ts';

/** What anybody may say to it, in any order; `pause` lets time pass instead. */
const SAYINGS: Readonly<Record<string, (workflow: Workflow, number: number) => object>> = {
  ready: () => READY,
  cancel: () => CANCEL,
  parentFailed: () => PARENT_FAILED,
  grant: (workflow, number) =>
    granted(workflow, {
      registration: number + 1,
      workerId: `W${number % 2}`,
      cores: 1 + (number % 3),
    }),
  foreignGrant: (workflow, number) =>
    granted(workflow, { attemptId: `w1#${number}`, registration: number + 1 }),
  renew: () => ({ type: 'slot.renew' }),
  accept: (workflow) => answered(workflow),
  reject: rejected,
  staleTerm: (workflow, number) =>
    answered(workflow, { accepted: false, reason: 'staleTerm', term: number }),
  progress: (workflow, number) => progress(workflow, { progress: number / 5 }),
  succeed: (workflow) => result(workflow),
  fail: (workflow, number) => failure(workflow, { retryable: number > 0 }),
  foreignResult: (workflow, number) => result(workflow, { attemptId: `w1#${number + 1}` }),
  otherWorker: (workflow) => result(workflow, { workerId: 'X' }),
  workerLost: ({ context }, number) => workerLost(context.slot?.registration ?? number),
  otherLost: (_, number) => workerLost(number),
  attemptLost: (workflow) => attemptLost(workflow),
  stopped: (workflow) => stopped(workflow),
  cancelAnswered: (workflow, number) =>
    cancelAnswered(workflow, { accepted: number > 0, term: number }),
  merged: () => ({ type: 'shards.merged' }),
  pause: () => ({ type: 'pause' }),
};

/** What leads on is said more often than what ends it. */
const names = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('ready', 'grant', 'accept') },
  { weight: 3, arbitrary: fc.constantFrom(...Object.keys(SAYINGS)) },
);
const story = fc.array(fc.tuple(names, fc.nat(4)), { maxLength: 60, size: 'max' });

/** Grants that reached it, less what it gave back: what the pool has reserved for it. */
class Ledger {
  readonly #open = new Map<string, number>();
  readonly #placed = new Set<string>();
  #seen = 0;

  grant(registration: number, cores: number): void {
    const key = `${registration}:${cores}`;
    this.#open.set(key, (this.#open.get(key) ?? 0) + 1);
  }

  follow(workflow: Workflow): void {
    for (const { type, to, ...fields } of workflow.all.slice(this.#seen)) {
      if (type === 'slot.released') {
        expect(to).toBe(POOL);
        this.#release(`${fields['registration']}:${fields['cores']}`);
      }
      const attempt = `${to} ${fields['attemptId']}`;
      if (type === 'attempt.placed') {
        expect(this.#placed.has(attempt)).toBe(false);
        this.#placed.add(attempt);
      }
      if (type === 'attempt.running') expect(this.#placed.has(attempt)).toBe(true);
      if (type === 'attempt.ended') expect(this.#placed.delete(attempt)).toBe(true);
    }
    this.#seen = workflow.all.length;
  }

  get open(): number {
    return [...this.#open.values()].reduce((total, count) => total + count, 0);
  }

  get placed(): number {
    return this.#placed.size;
  }

  #release(key: string): void {
    const count = this.#open.get(key) ?? 0;
    expect(count).toBeGreaterThan(0);
    this.#open.set(key, count - 1);
  }
}

describe('slots', () => {
  test('are given back exactly once, whatever happens in whatever order', () => {
    const ends = new Set<string>();
    fc.assert(
      fc.property(story, (said) => {
        const workflow = newWorkflow();
        const ledger = new Ledger();
        for (const [name, number] of said) {
          const event = (SAYINGS[name] as (typeof SAYINGS)[string])(workflow, number) as {
            type: string;
          };
          if (event.type === 'pause') workflow.advance(1_000 * 2 ** number);
          else if (workflow.take(event) && event.type === 'slot.granted') {
            const { registration, cores } = event as unknown as ReturnType<typeof granted>;
            ledger.grant(registration, cores);
          }
          ledger.follow(workflow);
          const holds = workflow.context.slot === null ? 0 : 1;
          expect([ledger.open, ledger.placed]).toEqual([holds, holds]);
          const isOut = ['DISPATCHED', 'RUNNING', 'CANCELLING'].includes(workflow.state);
          expect(holds === 1).toBe(isOut);
        }
        // Nobody says anything any more: an attempt that is cancelled comes to its end by itself.
        if (workflow.take(CANCEL)) workflow.advance(60_000);
        ledger.follow(workflow);
        expect([workflow.isOver, ledger.open, ledger.placed]).toEqual([true, 0, 0]);
        expect(workflow.deadlines).toEqual({});
        ends.add(workflow.state);
      }),
      { numRuns: 200, seed: 1 },
    );
    expect([...ends].sort()).toEqual(['AGGREGATED', 'CANCELLED', 'COMPLETED', 'FAILED_FOR_GOOD']);
  });

  test('mean the same after every restart', () => {
    fc.assert(
      fc.property(story, (said) => {
        const one = newWorkflow();
        const other = newWorkflow();
        for (const [name, number] of said) {
          const event = (SAYINGS[name] as (typeof SAYINGS)[string])(one, number) as {
            type: string;
          };
          for (const workflow of [one, other]) {
            if (event.type === 'pause') workflow.advance(1_000 * 2 ** number);
            else workflow.take(event);
          }
          if (!other.isOver) other.restart();
          expect(other.all).toEqual(one.all);
          expect(other.states).toBe(one.states);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('that come when none is needed are given back at once', () => {
    for (const workflow of [newWorkflow(), dispatched(), running(), pausing()]) {
      workflow.said();
      workflow.take(granted(workflow, { registration: 5, workerId: 'V', cores: 3 }));
      expect(workflow.said()).toMatchObject([
        { to: POOL, type: 'slot.released', workerId: 'V', registration: 5, cores: 3 },
      ]);
    }
  });

  test('are released before the next one is asked for', () => {
    const workflow = running();
    workflow.said();
    workflow.take(workerLost());
    const toPool = workflow.said().filter(({ to }) => to === POOL);
    expect(toPool.map(({ type }) => type)).toEqual(['slot.released', 'slot.requested']);
  });
});
