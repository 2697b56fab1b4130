/**
 * Histories of one job by hand: each turn says what it changes, the rest of the record goes on.
 *
 *   const story = tale().accept().turn(120_001, timer, ended('timedOut', 'stuck'));
 *
 * Times are true time since zero in milliseconds; a node's clock is that and `EPOCH`, and its skew.
 */

import { initialJob, type JobContext, type JobInput } from '../../../machines/jobs/job/context.ts';
import { jobRules, resolveConfiguration } from '../../../programs/jobs/configuration.ts';
import type { HistoryFact } from '../../../simulator/history/history.ts';
import type { JobsFacts } from '../../../simulator/jobs/facts.ts';
import { commit, FACTS, history, record, type Story, sent, timers, turn } from './builders.ts';
import { standingAt } from './standing-at.ts';

export const EPOCH = 1_000_000;
export const JOB = 'job/j1@A';
export const GATE_JOB = 'gate-job/j1@gate-1';

const config = resolveConfiguration();

export const JOBS_FACTS: JobsFacts = {
  ...FACTS,
  places: { 'A.manager-1': 'A', 'A.manager-2': 'A', 'gate-1': 'gate-1' },
  core: ['A.manager-1', 'A.manager-2', 'gate-1'],
  config,
  gates: ['gate-1'],
  datacenters: ['A'],
};

export const input = (more: Partial<JobInput> = {}): JobInput => ({
  jobId: 'j1',
  datacenter: 'A',
  managerId: 'A.manager-1',
  term: 1,
  gateId: null,
  digest: 'd',
  timeoutMs: 60_000,
  stuckThresholdMs: 120_000,
  failFast: false,
  enforce: true,
  targetDatacenters: ['A'],
  decisionEpoch: [0, 0],
  rules: jobRules(config, { timeoutMs: 60_000 }),
  ids: ['w1'],
  dependsOn: {},
  ...more,
});

type Event = { readonly type: string; readonly [field: string]: unknown };
type Changes<TContext> = Partial<TContext> | ((context: TContext) => Partial<TContext>);

export interface Circumstances {
  readonly node?: string;
  /** How far the clock of the node is ahead. Default 0. */
  readonly skewMs?: number;
  readonly state?: string;
  /** It is durable, and its node dies before it can tell. */
  readonly isUnseen?: boolean;
  /** The identity of the message. */
  readonly from?: string;
  readonly counter?: number;
}

const LOCAL = '{"active":{"authority":{"leading":{"localAuthority":"tracking"}}}}';
const AT_GATE = '{"active":{"authority":{"leading":{"gateCoordinated":"tracking"}}}}';

/** One actor's turns, one after the other. */
export class Tale<TContext> {
  readonly story: Story = history();
  readonly address: string;
  context: TContext;
  #turns = 0;
  #state: string;
  #node = 'A.manager-1';

  constructor(address: string, context: TContext, state: string) {
    this.address = address;
    this.context = context;
    this.#state = state;
  }

  get records() {
    return this.story.records;
  }

  get endsAtMs(): number {
    return this.story.endsAtMs;
  }

  /** A turn at that moment; what it changes is also in the store of its place. */
  turn(
    atMs: number,
    event: Event,
    changes: Changes<TContext> = {},
    { node, skewMs = 0, state, isUnseen = false, from, counter }: Circumstances = {},
  ): this {
    const next = typeof changes === 'function' ? changes(this.context) : changes;
    this.context = { ...this.context, ...next };
    this.#turns += 1;
    this.#state = state ?? this.#state;
    this.#node = node ?? this.#node;
    const at = EPOCH + atMs + skewMs;
    const place = this.address.slice(this.address.lastIndexOf('@') + 1);
    const snapshot = { value: this.#state, context: this.context };
    const text = record(this.#turns, { at, snapshot });
    this.story.at(atMs).add(this.#node, commit(place, 1, { [this.address]: text }));
    if (isUnseen) return this;
    const parts = { turn: this.#turns, takenAt: at, event, state: this.#state, from, counter };
    return this.add(turn(this.address, { ...parts, context: this.context }));
  }

  /** Anything else, at the moment of the last turn and by its node. */
  add(...facts: readonly HistoryFact[]): this {
    this.story.add(this.#node, ...facts);
    return this;
  }

  /** Anything else, at any time and by anybody. */
  at(atMs: number, node: string, ...facts: readonly HistoryFact[]): this {
    this.story.at(atMs).add(node, ...facts);
    return this;
  }

  says(to: string, event: Event): this {
    return this.add(sent(this.address, this.#turns, to, event));
  }

  waits(...names: readonly string[]): this {
    return this.add(
      timers(this.address, Object.fromEntries(names.map((name) => [`xstate.after.${name}`, 1]))),
    );
  }
}

export const moment = (atMs: number): number => EPOCH + atMs;

const STATES: Readonly<Record<string, string>> = { r: 'RUNNING', a: 'PENDING', w: 'PENDING' };

/** A job that was accepted at zero, and has one workflow running since then unless it says otherwise. */
export function accepted(
  more: Partial<JobInput> = {},
  how: Circumstances & { readonly standing?: string } = {},
): Tale<JobContext> {
  const { standing = 'r', ...circumstances } = how;
  const { skewMs = 0 } = circumstances;
  const at = EPOCH + skewMs;
  const tale = new Tale(JOB, initialJob({ ...input(more), at: at - 10 }), 'assembling');
  const { table } = tale.context;
  const begun = {
    startedAt: at,
    baseAt: at,
    seenAt: at,
    lastProgressAt: at,
    lastGateContactAt: at,
  };
  return tale
    .turn(-10, { type: 'escapement.spawn', input: input(more) }, {}, circumstances)
    .turn(0, { type: 'job.assembled' }, begun, {
      ...circumstances,
      state: more.gateId === undefined || more.gateId === null ? LOCAL : AT_GATE,
    })
    .turn(
      0,
      { type: 'workflow.changed', workflowId: 'w1', state: STATES[standing], final: false },
      {
        table: standingAt(table, standing),
        status: standing === 'w' ? 'submitted' : 'running',
        seq: 2,
      },
      circumstances,
    );
}

export const TIMER: Event = { type: 'xstate.after.overallLimit' };

/** The job ends; `at` is the moment by the clock of its node. */
export const ended = (
  at: number,
  status: JobContext['status'],
  reason: JobContext['reason'] = null,
  more: Partial<JobContext> = {},
): Partial<JobContext> => ({
  status,
  reason,
  endedAt: at,
  seenAt: at,
  ...(reason === 'overall' || reason === 'stuck' ? { localReason: reason } : {}),
  ...more,
});

/** What a takeover changes, as it should. */
export const takenOver =
  (at: number, term: number, more: Partial<JobContext> = {}) =>
  (context: JobContext): Partial<JobContext> => {
    const shiftMs = Math.min(0, at - context.seenAt);
    const elapsedMs = Math.max(context.seenAt - context.baseAt, at - context.startedAt);
    const { timeoutReportedAt, holdUntil } = context;
    return {
      term,
      leaderFence: context.leaderFence + 1,
      baseAt: at - elapsedMs,
      seenAt: at,
      lastProgressAt: context.lastProgressAt + shiftMs,
      lastGateContactAt: context.lastGateContactAt + shiftMs,
      timeoutReportedAt: timeoutReportedAt === null ? null : timeoutReportedAt + shiftMs,
      holdUntil: holdUntil === 0 ? 0 : holdUntil + shiftMs,
      stuckGraceUntil: at + 20_000,
      ...more,
    };
  };

export const ACQUIRED: Event = { type: 'leadership.acquired' };
