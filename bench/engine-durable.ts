/**
 * Turns of a job that are on disk before anybody hears of them, against `actor.send` of plain
 * XState, which forgets them with its process.
 *
 * Ours: the LMDB store in a new directory below the working directory, so on the disk that the
 * project is on; every turn's record is written and flushed before its message is acknowledged;
 * 1,024 messages in flight. XState's: a loop over `send` with the default clock. Both take the
 * same events in the same order. Afterwards the work is checked, and the directory is opened
 * again and must hold what was acknowledged.
 */

import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lmdbStore } from '../index.ts';
import { peers, xstate } from './engine-transition.ts';
import { interleave, median, rangeOf, ratios, rounded, summary } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const ACTORS = 1_000;
const TURNS = 200_000;
const IN_FLIGHT = 1_024;
const SLOW_TURNS = 2_000;

export const durable: Field = {
  name: 'durableVsVolatileXstate',
  about: 'turns per second with every turn on disk before it counts ÷ actor.send of plain XState',
  better: 'higher',
  goal: 0.6,
  stretch: 1,
  measure,
};

async function measure(options: MeasureOptions): Promise<Measured> {
  const turns = TURNS * (options.isQuick ? 0.2 : 1);
  const directories = ['engine', 'oneInFlight', 'sixteenInFlight'].map(newDirectory);
  const [engine, one, sixteen] = directories as [string, string, string];
  const parts = { sendersPerActor: 1 };
  const contenders = [
    await peers('durable', {
      ...parts,
      turns,
      inFlight: IN_FLIGHT,
      store: lmdbStore(engine),
    }),
    xstate('xstate', turns),
    await peers('inMemory', { ...parts, turns, inFlight: IN_FLIGHT }),
    await peers('durableOneInFlight', {
      ...parts,
      turns: SLOW_TURNS,
      inFlight: 1,
      store: lmdbStore(one),
    }),
    await peers('durableSixteenInFlight', {
      ...parts,
      turns: 8 * SLOW_TURNS,
      inFlight: 16,
      store: lmdbStore(sixteen),
    }),
  ];
  const raw = await interleave(contenders, options);
  for (const contender of contenders) {
    await contender.check?.();
    await contender.end();
  }
  const fileBytes = statSync(join(engine, 'data.mdb')).size;
  const reopened = await recordsIn(engine);
  for (const directory of directories) rmSync(directory, { recursive: true });
  const perRound = ratios(raw, 'durable', 'xstate');
  return {
    value: rounded(median(perRound)),
    range: rangeOf(perRound),
    rounds: perRound.length,
    details: {
      actors: ACTORS,
      inFlight: IN_FLIGHT,
      turnsPerSample: turns,
      turnsPerSecond: Object.fromEntries(
        Object.entries(raw).map(([name, samples]) => [name, summary(samples)]),
      ),
      durableVsInMemory: summary(ratios(raw, 'durable', 'inMemory')),
      fileBytes,
      recordsAfterReopening: reopened,
    },
    raw,
  };
}

function newDirectory(name: string): string {
  const parent = join(process.cwd(), 'node_modules', '.cache');
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, `escapement-bench-${name}-`));
}

async function recordsIn(directory: string): Promise<number> {
  const store = lmdbStore(directory, { isStrict: true });
  await store.open();
  const { length } = [...store.entries()];
  await store.close();
  if (length !== ACTORS) throw new Error(`${length} records of ${ACTORS} came back.`);
  return length;
}
