/**
 * Scan of the index: how many actors of each kind are in which state, overdue, stopped, or long without an event.
 *
 * It reads the index page by page with pauses between, at most a twentieth of the time, so that a million actors
 * cost as little as a hundred; the counts are those of its last whole pass. It runs only while somebody looks.
 */

import type { ActorRow } from '../../runtime/api.ts';
import { messageOf } from '../../runtime/base/errors.ts';
import { knob } from '../../runtime/base/knob.ts';
import type { LiveContext } from './live-context.ts';

/** Rows that are read at a time. */
const PAGE_ROWS = 500;
/** Share of the time that a scan may take, as what it rests for each ms of work. */
const REST_PER_MS = knob('inspectorScanRestPerMs', 19);
const REST_MIN_MS = 10;
/** Time without a turn after which an actor that has something under way is told of. */
export const STUCK_MS = knob('inspectorStuckMs', 60_000);
/** Pause between two passes. */
const PASS_EVERY_MS = 1_000;
/** States that are counted by themselves, of all kinds together; nested values may be many. */
const STATES_MAX = 2_000;

export interface KindCounts {
  readonly states: Map<string, number>;
  active: number;
  ended: number;
  stopped: number;
  overdue: number;
  /** Active ones that have something under way and took no turn for a while. */
  stuck: number;
}

export interface ScanResult {
  readonly at: number;
  readonly kinds: ReadonlyMap<string, KindCounts>;
  readonly total: number;
  /** Pending deadlines by the time until they are due. */
  readonly pending: readonly number[];
}

/** Upper bounds of the columns of pending deadlines. */
export const PENDING_MS = [
  0,
  1_000,
  10_000,
  60_000,
  600_000,
  3_600_000,
  86_400_000,
  Number.MAX_SAFE_INTEGER,
];

export class IndexScan {
  readonly #context: LiveContext;
  #result: ScanResult | undefined;
  #cancel: (() => void) | undefined;
  #isRunning = false;

  constructor(context: LiveContext) {
    this.#context = context;
  }

  get result(): ScanResult | undefined {
    return this.#result;
  }

  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#pass(newPass(), undefined);
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancel?.();
    this.#result = undefined;
  }

  #pass(pass: Pass, after: string | undefined): void {
    const { watch, runtime } = this.#context;
    const began = performance.now();
    let cursor: string | undefined;
    try {
      // A node that stands by has no index.
      const page = !runtime.isHosting
        ? { actors: [] }
        : runtime.query({
            limit: PAGE_ROWS,
            lookedAtMax: PAGE_ROWS,
            ...(after !== undefined && { cursor: after }),
          });
      const now = watch.now();
      for (const row of page.actors) count(pass, row, now);
      cursor = page.cursor;
    } catch (thrown) {
      watch.logger.debug({ error: messageOf(thrown) }, 'the inspector could not read the index');
    }
    if (cursor === undefined) this.#result = { ...pass, at: watch.now() };
    const workMs = performance.now() - began;
    const restMs = Math.max(REST_MIN_MS, Math.ceil(workMs * REST_PER_MS.value));
    const next = cursor === undefined ? newPass() : pass;
    const pauseMs = cursor === undefined ? Math.max(PASS_EVERY_MS, restMs) : restMs;
    // The first pass goes on at once: somebody waits for it.
    const waitMs = this.#result === undefined ? 0 : pauseMs;
    this.#cancel = watch.later(waitMs, () => {
      if (this.#isRunning) this.#pass(next, cursor);
    });
  }
}

interface Pass {
  readonly kinds: Map<string, KindCounts>;
  total: number;
  states: number;
  readonly pending: number[];
}

function newPass(): Pass {
  return { kinds: new Map(), total: 0, states: 0, pending: PENDING_MS.map(() => 0) };
}

function count(
  pass: Pass,
  {
    kind,
    status,
    state,
    dueAt,
    turnAt,
    isPending,
  }: Pick<ActorRow, 'kind' | 'status' | 'state' | 'dueAt' | 'turnAt' | 'isPending'>,
  now: number,
): void {
  const counts = pass.kinds.get(kind) ?? {
    states: new Map(),
    active: 0,
    ended: 0,
    stopped: 0,
    overdue: 0,
    stuck: 0,
  };
  pass.kinds.set(kind, counts);
  pass.total += 1;
  if (status !== 'active') counts.ended += 1;
  else counts.active += 1;
  if (status === 'stopped') counts.stopped += 1;
  if (status === 'active' && isPending && now - turnAt > STUCK_MS.value) counts.stuck += 1;
  if (status === 'active' && dueAt !== null) {
    const leftMs = dueAt - now;
    if (leftMs < 0) counts.overdue += 1;
    const column = PENDING_MS.findIndex((bound) => leftMs <= bound);
    pass.pending[column] = (pass.pending[column] ?? 0) + 1;
  }
  const known = counts.states.get(state);
  if (known === undefined && pass.states >= STATES_MAX) return;
  if (known === undefined) pass.states += 1;
  counts.states.set(state, (known ?? 0) + 1);
}
