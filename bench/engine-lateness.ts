/**
 * Lateness of deadlines: 100,000 actors with one each, spread evenly over a minute.
 *
 * Lateness is the moment at which embedding code hears of the committed turn (an emitted
 * event) minus the moment the deadline was set for. Actors beyond `liveActorsMax` are not
 * in memory when their deadline comes, as in production. One pass, since it takes its
 * minute; the range is that of its six slices.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { emit, setup } from 'xstate';
import { createRuntime, type Runtime, systemClock } from '../index.ts';
import { closedLoop } from './closed-loop.ts';
import { collectGarbage, quantile, rangeOf, rounded } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const ACTORS = 100_000;
const SPREAD_MS = 60_000;
const QUICK_SHARE = 0.1;
const SLICES = 6;

export const lateness: Field = {
  name: 'timerLateP99Ms',
  about: 'ms from a deadline to its committed turn, 100,000 actors over 60 s, 99th percentile',
  better: 'lower',
  goal: 20,
  stretch: 5,
  measure,
};

interface ExpiryInput {
  readonly dueAt: number;
  /** Set by the runtime: the moment of the spawn. */
  readonly at?: number;
}

const expiryMachine = setup({
  types: {
    context: {} as { readonly limitMs: number },
    input: {} as ExpiryInput,
    emitted: {} as { readonly type: 'limit.passed' },
  },
  delays: { limit: ({ context }) => context.limitMs },
}).createMachine({
  id: 'expiry',
  context: ({ input }) => ({ limitMs: input.dueAt - (input.at ?? Number.NaN) }),
  initial: 'waiting',
  states: {
    waiting: { after: { limit: 'expired' } },
    expired: { entry: emit({ type: 'limit.passed' }) },
  },
});

/** The runtime's clock and ours read the same source, so they differ by rounding only. */
const nowPrecise = (): number => performance.timeOrigin + performance.now();

async function measure(options: MeasureOptions): Promise<Measured> {
  const share = options.isQuick ? QUICK_SHARE : 1;
  const actors = ACTORS * share;
  const spreadMs = SPREAD_MS * share;
  const monotonic = (): number => performance.now();
  const clock = systemClock({ sources: { wall: nowPrecise, monotonic, uptime: () => Number.NaN } });
  const runtime = await createRuntime({ clock, kinds: { expiry: expiryMachine } });
  // Spawns take a while: the first deadline lies behind the last of them.
  const spawnMs = actors * 0.1 + 1_000;
  const firstAt = clock.now() + spawnMs;
  const lateMs = await pass(runtime, { actors, spreadMs, firstAt }, options);
  clock.stop();
  await runtime.stop();
  const slices = Array.from({ length: SLICES }, (_, slice) =>
    quantile(
      lateMs.subarray((slice * actors) / SLICES, ((slice + 1) * actors) / SLICES) as never,
      0.99,
    ),
  );
  const [earliest, latest] = rangeOf(lateMs as never);
  return {
    value: rounded(quantile(lateMs as never, 0.99)),
    range: rangeOf(slices),
    rounds: 1,
    details: {
      actors,
      spreadMs,
      p50Ms: rounded(quantile(lateMs as never, 0.5)),
      p90Ms: rounded(quantile(lateMs as never, 0.9)),
      p999Ms: rounded(quantile(lateMs as never, 0.999)),
      minMs: rounded(earliest),
      maxMs: rounded(latest),
      early: 0,
      note: 'one pass; the range is that of the 99th percentiles of six slices',
    },
    raw: { p99OfSlice: slices.map(rounded) },
  };
}

interface Plan {
  readonly actors: number;
  readonly spreadMs: number;
  readonly firstAt: number;
}

async function pass(
  runtime: Runtime<{ expiry: typeof expiryMachine }>,
  { actors, spreadMs, firstAt }: Plan,
  options: MeasureOptions,
): Promise<Float64Array> {
  const lateMs = new Float64Array(actors).fill(Number.NaN);
  const dueAtOf = (index: number): number => firstAt + Math.floor((index * spreadMs) / actors);
  let heard = 0;
  let early = 0;
  await closedLoop(actors, 1_000, async (index) => {
    const dueAt = dueAtOf(index);
    const actor = await runtime.spawn(`expiry/${index}`, { input: { dueAt } });
    actor.on('limit.passed', () => {
      const late = nowPrecise() - dueAt;
      if (late < 0) early += 1;
      lateMs[index] = late;
      heard += 1;
    });
  });
  if (nowPrecise() > firstAt) throw new Error('Deadlines came before all actors were born.');
  options.progress(`  ${actors} actors are waiting`);
  collectGarbage();
  const endsAt = firstAt + spreadMs + 5_000;
  while (heard < actors && nowPrecise() < endsAt) await sleep(250);
  if (heard < actors) throw new Error(`${actors - heard} deadlines of ${actors} never came.`);
  if (early > 0) throw new Error(`${early} deadlines of ${actors} came early.`);
  return lateMs;
}
