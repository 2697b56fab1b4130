/**
 * Cost of a passivated actor against a live one of plain XState: memory and disk together.
 *
 * Ours: resident memory that 100,000 jobs with two deadlines each add to a runtime on a new LMDB
 * store, plus what they add to its file. XState's: resident memory that as many started actors
 * add. Every measurement has a process of its own; the two take turns, pass by pass. A page of
 * the file that is resident counts twice in the value, once as memory and once as file; what
 * comes out when it counts once is a detail, and so is what a restarted node holds.
 */

import { rmSync } from 'node:fs';
import type { Form, Held, Population } from './idle-program.ts';
import { NodeProgram, newDirectory } from './node-program.ts';
import { median, rangeOf, rounded, summary } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const PROGRAM = import.meta.resolve('./idle-program.ts');
const ACTORS = 100_000;

export const idle: Field = {
  name: 'idleVsLiveBytes',
  about: 'bytes of a passivated actor, memory and file together ÷ of a live one of plain XState',
  better: 'lower',
  goal: 0.2,
  stretch: 0.1,
  measure,
};

/** What one actor adds, in bytes. */
type Bytes = Record<
  'resident' | 'anonymous' | 'filePages' | 'heapUsed' | 'external' | 'file',
  number
>;

interface Pass {
  readonly passivated: Bytes;
  readonly restarted: Bytes;
  readonly live: Bytes;
}

async function measure(options: MeasureOptions): Promise<Measured> {
  const actors = options.isQuick ? ACTORS / 10 : ACTORS;
  const passes: Pass[] = [];
  for (let pass = 0; pass < options.rounds; pass += 1) {
    const isOursFirst = pass % 2 === 0;
    const before = isOursFirst ? undefined : await live(actors);
    const ours = await onDisk(actors);
    const measured = { ...ours, live: before ?? (await live(actors)) };
    passes.push(measured);
    options.progress(`  pass ${pass + 1}: ${rounded(ratioOf(measured))}`);
  }
  const perPass = passes.map(ratioOf);
  const perRestart = passes.map(
    (pass) => (pass.restarted.resident + pass.restarted.file) / pass.live.resident,
  );
  return {
    value: rounded(median(perPass)),
    range: rangeOf(perPass),
    rounds: perPass.length,
    details: {
      actors,
      order: 'a process for each; ours first in odd passes, XState first in even ones',
      ...(hasSplit(passes) && { filePagesCountedOnce: summary(passes.map(ratioCountedOnce)) }),
      afterRestart: summary(perRestart),
      passivatedBytes: summaries(passes, 'passivated'),
      restartedBytes: summaries(passes, 'restarted'),
      liveBytes: summaries(passes, 'live'),
    },
    raw: {
      ratio: perPass,
      ...rawOf(passes, 'passivated'),
      ...rawOf(passes, 'restarted'),
      ...rawOf(passes, 'live'),
    },
  };
}

async function onDisk(actors: number): Promise<Omit<Pass, 'live'>> {
  const directory = newDirectory('idle');
  try {
    const { baseline, held } = await population('passivated', actors, directory);
    const again = await population('restarted', actors, directory);
    const before = baseline as Held;
    return {
      passivated: bytesEach(before, held, actors),
      restarted: bytesEach(before, again.held, actors),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function live(actors: number): Promise<Bytes> {
  const { baseline, held } = await population('live', actors);
  return bytesEach(baseline as Held, held, actors);
}

async function population(form: Form, actors: number, directory = ''): Promise<Population> {
  const program = new NodeProgram(PROGRAM, [form, String(actors), directory], ['--expose-gc']);
  try {
    return (await program.next<Population>()).what;
  } finally {
    await program.kill();
  }
}

function bytesEach(before: Held, after: Held, actors: number): Bytes {
  const each = (of: (held: Held) => number | null): number => {
    const [from, to] = [of(before), of(after)];
    return from === null || to === null ? Number.NaN : (to - from) / actors;
  };
  return {
    resident: each(({ residentBytes }) => residentBytes),
    anonymous: each(({ anonymousBytes }) => anonymousBytes),
    filePages: each(({ filePagesBytes }) => filePagesBytes),
    heapUsed: each(({ heapUsedBytes }) => heapUsedBytes),
    external: each(({ externalBytes }) => externalBytes),
    file: each(({ fileBytes }) => fileBytes),
  };
}

function ratioOf({ passivated, live }: Pass): number {
  return (passivated.resident + passivated.file) / live.resident;
}

function ratioCountedOnce({ passivated, live }: Pass): number {
  return (passivated.anonymous + passivated.file) / live.anonymous;
}

/** Off Linux nobody says which pages are of files. */
function hasSplit(passes: readonly Pass[]): boolean {
  return passes.every((pass) => Number.isFinite(ratioCountedOnce(pass)));
}

function rawOf(passes: readonly Pass[], form: Form): Record<string, readonly number[]> {
  const names = Object.keys(passes[0]?.[form] ?? {}) as (keyof Bytes)[];
  const isMeasured = (name: keyof Bytes) =>
    passes.every((pass) => Number.isFinite(pass[form][name]));
  return Object.fromEntries(
    names
      .filter(isMeasured)
      .map((name) => [`${form}.${name}`, passes.map((pass) => rounded(pass[form][name]))]),
  );
}

function summaries(passes: readonly Pass[], form: Form): Record<string, object> {
  return Object.fromEntries(
    Object.entries(rawOf(passes, form)).map(([name, each]) => [
      name.slice(form.length + 1),
      summary(each),
    ]),
  );
}
