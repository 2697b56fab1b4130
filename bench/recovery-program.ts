/**
 * A node that engine-recovery.ts starts and kills: `node recovery-program.js TASK ACTORS DIRECTORY`.
 *
 *   populate  bears the jobs, says that they are durable, and stays until it is killed
 *   recover   starts on the directory, sends one message, and says so at once when the turn is
 *             durable; after that it looks at what it has, says it, and stays until it is killed
 *
 * Nothing is imported before the moment of the first line is taken. The phases are taken by
 * standing in front of the store; the store itself is the one of the package.
 */

import type { Store } from '../index.ts';
import type { ProcessMemory } from './process-memory.ts';

const enteredAt = performance.now();
const { createRuntime, lmdbStore } = await import('../index.ts');
const { JOB_INPUT, jobMachine } = await import('./job-machine.ts');
const importedAt = performance.now();

/** Milliseconds of each phase, in their order. */
export interface Phases {
  readonly node: number;
  readonly imports: number;
  readonly beforeStore: number;
  readonly storeOpen: number;
  readonly claim: number;
  readonly hosting: number;
  readonly firstAcknowledgement: number;
}

export interface Recovered {
  readonly phases: Phases;
  readonly deadlines: number;
  readonly records: number;
  readonly memory: ProcessMemory;
  /** Null where nobody counts them. */
  readonly diskReadBytes: number | null;
}

const STEP = 42;
const IN_FLIGHT = 1_000;

const [task, count = '', directory = ''] = process.argv.slice(2);
const actors = Number(count);
await (task === 'populate' ? populate() : recover());
// A signal ends it, or the end of its starter.
process.stdin.resume().once('end', () => process.exit());

async function populate(): Promise<void> {
  const { closedLoop } = await import('./closed-loop.ts');
  const runtime = await createRuntime({ kinds: { job: jobMachine }, store: lmdbStore(directory) });
  await closedLoop(actors, IN_FLIGHT, async (index) => {
    const job = await runtime.spawn(`job/${index}`, { input: JOB_INPUT });
    await job.send({ type: 'job.started' });
  });
  write({ deadlines: runtime.counts().deadlines });
}

async function recover(): Promise<void> {
  const store = lmdbStore(directory);
  const marks = marksOf(store);
  const runtime = await createRuntime({ kinds: { job: jobMachine }, store });
  const hostedAt = performance.now();
  const job = runtime.actor(`job/${actors >> 1}`);
  await job.send({ type: 'job.progressed', step: STEP });
  const acknowledgedAt = performance.now();
  write({ acknowledged: true });
  const { processMemory, diskReadBytes } = await import('./process-memory.ts');
  // What was read and what is held are taken before the checks below read and hold more.
  const read = diskReadBytes();
  const memory = processMemory();
  const { progress } = job.getSnapshot().context;
  if (progress !== STEP) throw new Error(`The job is at step ${progress} instead of ${STEP}.`);
  const recovered: Recovered = {
    phases: {
      node: enteredAt,
      imports: importedAt - enteredAt,
      beforeStore: marks.openingAt - importedAt,
      storeOpen: marks.openedAt - marks.openingAt,
      claim: marks.claimedAt - marks.openedAt,
      hosting: hostedAt - marks.claimedAt,
      firstAcknowledgement: acknowledgedAt - hostedAt,
    },
    deadlines: runtime.counts().deadlines,
    records: [...store.entries()].length,
    memory,
    diskReadBytes: read,
  };
  write(recovered);
}

/** When the store was opened, and when its first group, which is the claim, was settled. */
function marksOf(store: Store): { openingAt: number; openedAt: number; claimedAt: number } {
  const marks = { openingAt: 0, openedAt: 0, claimedAt: 0 };
  const { open, commit } = store;
  store.open = async (place) => {
    marks.openingAt = performance.now();
    await open.call(store, place);
    marks.openedAt = performance.now();
  };
  store.commit = (group, settle) => {
    store.commit = commit;
    commit.call(store, group, (refusal) => {
      marks.claimedAt = performance.now();
      settle(refusal);
    });
  };
  return marks;
}

/** Standard output is a pipe, so it is written before this returns. */
function write(what: object): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}
