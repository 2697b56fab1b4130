/**
 * Time from the kill of a node, with 100,000 jobs in its store, until it answers again.
 *
 * From just before the process is started to the arrival of its first acknowledgement: a durable
 * turn of a job that it read from its record. The directory is made once, by a process that is
 * killed; every round starts on a fresh copy, once with the copy in the page cache and once
 * without. The value is the warm median. Afterwards every record and every deadline must be there.
 */

import { cpSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { NodeProgram, newDirectory } from './node-program.ts';
import { type Eviction, evict, settle } from './page-cache.ts';
import type { Phases, Recovered } from './recovery-program.ts';
import { type Case, interleave, median, rangeOf, rounded, summary } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const PROGRAM = import.meta.resolve('./recovery-program.ts');
const ACTORS = 100_000;
const DATA_FILE = 'data.mdb';
/** A cold start that had less of the data file read from the disk was not cold. */
const COLD_SHARE_MIN = 0.25;

export const recovery: Field = {
  name: 'recover100kMs',
  about: 'ms from the start of a process to its first durable answer, 100,000 jobs in its store',
  better: 'lower',
  goal: 1_500,
  stretch: 500,
  measure,
};

interface Recovery extends Recovered {
  readonly totalMs: number;
  /** Until Node's own clock begins, and from the acknowledgement to its arrival here. */
  readonly outsideMs: number;
}

type Temperature = 'warm' | 'cold';

async function measure(options: MeasureOptions): Promise<Measured> {
  const actors = options.isQuick ? ACTORS / 10 : ACTORS;
  const parent = newDirectory('recovery');
  try {
    const killed = join(parent, 'killed');
    await populate(killed, actors);
    options.progress(`  ${actors} jobs are stored, and their node was killed`);
    const runs: Record<Temperature, Recovery[]> = { warm: [], cold: [] };
    const coldness = new Coldness(statSync(join(killed, DATA_FILE)).size);
    const caseOf = (name: Temperature): Case => ({
      name,
      run: async () => {
        const copy = join(parent, name);
        cpSync(killed, copy, { recursive: true });
        for (const file of readdirSync(copy)) settle(join(copy, file));
        if (name === 'cold') coldness.begin(join(copy, DATA_FILE));
        const run = await recover(copy, actors);
        if (name === 'cold') coldness.judge(run.diskReadBytes);
        runs[name].push(run);
        rmSync(copy, { recursive: true });
        return run.totalMs;
      },
    });
    const raw = await interleave([caseOf('warm'), caseOf('cold')], options);
    // The first of each was the warm-up.
    const [warm, cold] = [runs.warm.slice(1), runs.cold.slice(1)];
    const { missing, eviction } = coldness;
    const samples = raw.warm as readonly number[];
    return {
      value: rounded(median(samples)),
      range: rangeOf(samples),
      rounds: samples.length,
      details: {
        actors,
        fileBytes: coldness.fileBytes,
        cold: missing === undefined ? summary(raw.cold as readonly number[]) : null,
        coldNote: missing ?? eviction,
        warmPhasesMs: phasesOf(warm),
        ...(missing === undefined && { coldPhasesMs: phasesOf(cold) }),
        memoryMiB: memoryOf(warm),
        diskReadMiB: {
          warm: mebibytes(warm.map(({ diskReadBytes }) => diskReadBytes)),
          cold: mebibytes(cold.map(({ diskReadBytes }) => diskReadBytes)),
        },
        checked: 'every record, every deadline, the state that was acknowledged',
      },
      raw: missing === undefined ? raw : { warm: samples },
    };
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

/** Outcome of the attempts to start without the page cache. */
class Coldness {
  readonly fileBytes: number;
  eviction: Eviction | undefined;
  /** Why there is no cold figure. */
  missing: string | undefined;

  constructor(fileBytes: number) {
    this.fileBytes = fileBytes;
  }

  begin(file: string): void {
    this.eviction = evict(file);
    if (this.eviction === undefined)
      this.missing = 'the page cache may not be dropped here, and dd cannot evict a file';
  }

  /** Off Linux nobody counts what is read, and nothing is claimed. */
  judge(diskReadBytes: number | null): void {
    if (this.missing !== undefined) return;
    if (diskReadBytes === null) this.missing = 'nobody counts what is read from the disk here';
    else if (diskReadBytes < COLD_SHARE_MIN * this.fileBytes)
      this.missing = `${this.eviction}, and still only ${diskReadBytes} bytes came from the disk`;
  }
}

async function populate(directory: string, actors: number): Promise<void> {
  const program = new NodeProgram(PROGRAM, ['populate', String(actors), directory]);
  try {
    const { what } = await program.next<{ deadlines: number }>();
    expect('deadlines before the kill', what.deadlines, actors);
  } finally {
    await program.kill();
  }
}

async function recover(directory: string, actors: number): Promise<Recovery> {
  const program = new NodeProgram(PROGRAM, ['recover', String(actors), directory]);
  try {
    const { arrivedAt } = await program.next();
    const { what } = await program.next<Recovered>();
    expect('deadlines after the start', what.deadlines, actors);
    expect('records after the start', what.records, actors);
    const totalMs = arrivedAt - program.startedAt;
    const insideMs = Object.values(what.phases).reduce((sum, ms) => sum + ms, 0);
    return { ...what, totalMs, outsideMs: totalMs - insideMs };
  } finally {
    await program.kill();
  }
}

function phasesOf(runs: readonly Recovery[]): Record<string, object> {
  const names = Object.keys(runs[0]?.phases ?? {}) as (keyof Phases)[];
  return {
    outside: summary(runs.map(({ outsideMs }) => outsideMs)),
    ...Object.fromEntries(
      names.map((name) => [name, summary(runs.map(({ phases }) => phases[name]))]),
    ),
  };
}

function memoryOf(runs: readonly Recovery[]): Record<string, object> {
  return {
    resident: mebibytes(runs.map(({ memory }) => memory.residentBytes)),
    anonymous: mebibytes(runs.map(({ memory }) => memory.anonymousBytes)),
    filePages: mebibytes(runs.map(({ memory }) => memory.filePagesBytes)),
    heapUsed: mebibytes(runs.map(({ memory }) => memory.heapUsedBytes)),
  };
}

function mebibytes(bytes: ReadonlyArray<number | null>): object {
  const known = bytes.filter((each) => each !== null);
  return known.length < bytes.length ? {} : summary(known.map((each) => each / 2 ** 20));
}

function expect(what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${what}: ${found} instead of ${expected}.`);
}
