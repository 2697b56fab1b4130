/**
 * Memory and disk that a population of jobs takes, measured in this process. Started by engine-idle.ts:
 * `node --expose-gc idle-program.js FORM ACTORS [DIRECTORY]`.
 *
 *   passivated  ours, spawned here, let go when they are idle; the data stays in the directory
 *   restarted   ours, spawned by the process before, and this one has only opened the directory
 *   live        plain XState, each in an array
 *
 * Each form begins with some thousand actors that are taken for warm-up and are in both of its
 * measurements; a restarted one has no baseline of its own, because its actors are there at once.
 */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type AnyActorRef, createActor } from 'xstate';
import { createRuntime, lmdbStore, type Runtime } from '../index.ts';
import { closedLoop } from './closed-loop.ts';
import { JOB_INPUT, jobMachine } from './job-machine.ts';
import { collectedMemory, type ProcessMemory } from './process-memory.ts';

export type Form = 'passivated' | 'restarted' | 'live';

export interface Held extends ProcessMemory {
  readonly fileBytes: number;
}

export interface Population {
  readonly baseline: Held | undefined;
  readonly held: Held;
}

type Jobs = Runtime<{ job: typeof jobMachine }>;

/** Enough for memory that does not depend on the number of actors (code, buffers, the young generation) to be there. */
const WARM_UP = 20_000;
/** More than may be live, so that after they were touched nobody else is. */
const TOUCHED = 500;
const LIVE_MAX = 200;
const IN_FLIGHT = 1_000;

const [form, count = '', directory = ''] = process.argv.slice(2);
const actors = Number(count);
const FORMS: Record<Form, () => Promise<Population>> = { passivated, restarted, live };
process.stdout.write(`${JSON.stringify(await FORMS[form as Form]())}\n`, () => process.exit(0));

async function passivated(): Promise<Population> {
  const runtime = await start();
  await bear(runtime, 'warm', WARM_UP);
  const baseline = await heldBy(runtime);
  await bear(runtime, 'job', actors);
  const held = await heldBy(runtime);
  check('deadlines', runtime.counts().deadlines, actors + WARM_UP);
  await runtime.stop();
  return { baseline, held };
}

async function restarted(): Promise<Population> {
  const store = lmdbStore(directory);
  const runtime = await start(store);
  const held = await heldBy(runtime);
  check('deadlines', runtime.counts().deadlines, actors + WARM_UP);
  check('records', [...store.entries()].length, actors + WARM_UP);
  await runtime.stop();
  return { baseline: undefined, held };
}

async function live(): Promise<Population> {
  const refs: AnyActorRef[] = [];
  const begin = (): void => {
    const actor = createActor(jobMachine, { input: JOB_INPUT }).start();
    actor.send({ type: 'job.started', at: 0 });
    refs.push(actor);
  };
  for (let index = 0; index < WARM_UP; index += 1) begin();
  const baseline = { ...(await collectedMemory()), fileBytes: 0 };
  for (let index = 0; index < actors; index += 1) begin();
  const held = { ...(await collectedMemory()), fileBytes: 0 };
  const running = refs.filter((ref) => ref.getSnapshot().matches({ running: 'working' }));
  check('running jobs', running.length, actors + WARM_UP);
  return { baseline, held };
}

function start(store = lmdbStore(directory)): Promise<Jobs> {
  const limits = { liveActorsMax: LIVE_MAX };
  return createRuntime({ kinds: { job: jobMachine }, store, limits });
}

/** Each with its two deadlines. */
function bear(runtime: Jobs, name: string, many: number): Promise<void> {
  return closedLoop(many, IN_FLIGHT, async (index) => {
    const job = await runtime.spawn(`job/${name}-${index}`, { input: JOB_INPUT });
    await job.send({ type: 'job.started' });
  });
}

/** Everybody but the last of the warm-up is let go first. */
async function heldBy(runtime: Jobs): Promise<Held> {
  await closedLoop(TOUCHED, 1, (index) =>
    runtime.actor(`job/warm-${index}`).send({ type: 'job.progressed', step: index }),
  );
  const { live: inMemory, ready, underWay } = runtime.counts();
  check('actors that wait for a turn', ready + underWay, 0);
  if (inMemory > LIVE_MAX) throw new Error(`${inMemory} actors are live, ${LIVE_MAX} may be.`);
  return { ...(await collectedMemory()), fileBytes: statSync(join(directory, 'data.mdb')).size };
}

function check(what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${what}: ${found} instead of ${expected}.`);
}
