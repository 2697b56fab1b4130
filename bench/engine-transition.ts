/**
 * Turns of a job through the whole engine against `actor.send` of plain XState.
 *
 * Ours: memory store, a record encoded for every turn, history, deduplication, index, and
 * inspection that nobody reads; 1,024 messages in flight, a promise for each. XState's: a
 * loop over `send` with the default clock. Both take the same events in the same order.
 * After the last round the work is checked: turns, marks, history and index.
 */

import { createActor } from 'xstate';
import {
  type ActorHandle,
  createRuntime,
  inProcessNetwork,
  memoryStore,
  type Store,
} from '../index.ts';
import { closedLoop } from './closed-loop.ts';
import { checkWork } from './engine-checks.ts';
import { JOB_INPUT, type JobEvent, JobScript, jobMachine, type Step } from './job-machine.ts';
import { PeerSenders } from './peer-senders.ts';
import { type Case, interleave, median, rangeOf, ratios, rounded, summary } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const ACTORS = 1_000;
const IN_FLIGHT = 1_024;
/** Each actor hears one sender, as one does whose events come over one connection. */
const SENDERS = 1;
const MANY_SENDERS = 8;
const TURNS = 200_000;
/** Fewer where one message waits for the one before, or a second runtime is involved. */
const SLOW_TURNS = 50_000;
/** The type that spawns an actor by message. */
const SPAWN_TYPE = 'escapement.spawn';

export const transition: Field = {
  name: 'transitionVsXstateSend',
  about: 'turns per second of a job through the whole engine ÷ actor.send of plain XState',
  better: 'higher',
  goal: 1,
  stretch: 1.5,
  measure,
};

export interface Contender extends Case {
  check?(): Promise<void>;
  end(): Promise<void> | void;
}

async function measure(options: MeasureOptions): Promise<Measured> {
  const scale = options.isQuick ? 0.2 : 1;
  const turns = TURNS * scale;
  const slowTurns = SLOW_TURNS * scale;
  const contenders: readonly Contender[] = [
    await peers('engine', { turns, inFlight: IN_FLIGHT, sendersPerActor: SENDERS }),
    xstate('xstate', turns),
    await peers('eightSendersPerActor', {
      turns,
      inFlight: IN_FLIGHT,
      sendersPerActor: MANY_SENDERS,
    }),
    await handles('handleSend', turns),
    await peers('oneInFlight', { turns: slowTurns, inFlight: 1, sendersPerActor: SENDERS }),
    await remote('remoteSend', slowTurns),
    await peers('progressOnly', {
      turns,
      inFlight: IN_FLIGHT,
      sendersPerActor: SENDERS,
      hasLives: false,
    }),
    xstate('xstateProgressOnly', turns, false),
  ];
  const raw = await interleave(contenders, options);
  for (const contender of contenders) {
    await contender.check?.();
    await contender.end();
  }
  const perRound = ratios(raw, 'engine', 'xstate');
  const details: Record<string, unknown> = {
    actors: ACTORS,
    inFlight: IN_FLIGHT,
    sendersPerActor: SENDERS,
    turnsPerSample: turns,
    turnsPerSecond: Object.fromEntries(
      Object.entries(raw).map(([name, samples]) => [name, summary(samples)]),
    ),
    checked: 'turns, identities in history, marks in records, duplicates refused, index',
  };
  for (const { name } of contenders) {
    if (name.startsWith('xstate') || name === 'engine') continue;
    const base = name === 'progressOnly' ? 'xstateProgressOnly' : 'xstate';
    details[name] = summary(ratios(raw, name, base));
  }
  return {
    value: rounded(median(perRound)),
    range: rangeOf(perRound),
    rounds: perRound.length,
    details,
    raw,
  };
}

/** Plain XState: actors that nobody else holds, a loop, real timers. */
export function xstate(name: string, turns: number, hasLives = true): Contender {
  const begin = () => createActor(jobMachine, { input: JOB_INPUT }).start();
  const actors = Array.from({ length: ACTORS }, begin);
  for (const actor of actors) actor.send({ type: 'job.started', at: 0 });
  const script = new JobScript(ACTORS, hasLives);
  let at = 0;
  return {
    name,
    run() {
      const startedAt = performance.now();
      for (let number = 0; number < turns; number += 1) {
        const index = number % ACTORS;
        const step = script.next(index);
        at += 1;
        if (step === 'birth') actors[index] = begin();
        // The engine stamps the time; here the driver does, without reading a clock.
        else actors[index]?.send(eventFor(step, number, at));
      }
      return perSecond(turns, startedAt);
    },
    async check() {
      const states = actors.map((actor) => actor.getSnapshot());
      const running = states.filter((state) => state.matches({ running: 'working' })).length;
      if (running < ACTORS * 0.9) throw new Error(`${name}: ${running} jobs are running.`);
    },
    end() {
      for (const actor of actors) actor.stop();
    },
  };
}

export interface PeerOptions {
  readonly turns: number;
  readonly inFlight: number;
  readonly sendersPerActor: number;
  readonly hasLives?: boolean;
  /** Default: in memory. */
  readonly store?: Store;
}

/** Messages with identities, through the entry that a peer's messages take. */
export async function peers(name: string, options: PeerOptions): Promise<Contender> {
  const { turns, inFlight, sendersPerActor, hasLives = true } = options;
  const { store = memoryStore() } = options;
  const runtime = await createRuntime({ store, kinds: { job: jobMachine } });
  const addresses = Array.from({ length: ACTORS }, (_, index) => `job/${index}@${runtime.place}`);
  const senderNames = Array.from(
    { length: MANY_SENDERS },
    (_, index) => `driver/${index}@elsewhere`,
  );
  const senders = new PeerSenders(runtime, senderNames, addresses);
  const script = new JobScript(ACTORS, hasLives);
  let taken = 0;
  const send = (sender: number, receiver: number, step: Step): Promise<void> => {
    taken += 1;
    const event = step === 'birth' ? { type: SPAWN_TYPE, input: JOB_INPUT } : eventFor(step, taken);
    return senders.send(sender, receiver, event);
  };
  const senderOf = (number: number): number => {
    const index = number % ACTORS;
    return (index + (Math.floor(number / ACTORS) % sendersPerActor)) % MANY_SENDERS;
  };
  const loop = (count: number, stepOf: (index: number) => Step): Promise<void> =>
    closedLoop(count, inFlight, (number) =>
      send(senderOf(number), number % ACTORS, stepOf(number % ACTORS)),
    );
  await loop(ACTORS, () => 'birth');
  await loop(ACTORS, () => 'start');
  return {
    name,
    async run() {
      const startedAt = performance.now();
      await loop(turns, (index) => script.next(index));
      return perSecond(turns, startedAt);
    },
    async check() {
      const { from, counter } = runtime.history(addresses[0] as string).at(-1) ?? {};
      const event = { type: 'job.progressed', step: -1 };
      await senders.repeat(senderNames.indexOf(from ?? ''), 0, counter ?? 0, event);
      checkWork({ name, runtime, store, taken, addresses, senders: senderNames, sendersPerActor });
    },
    end: () => runtime.stop(),
  };
}

/** Plain `handle.send`: no identity, so nothing to deduplicate. */
async function handles(name: string, turns: number): Promise<Contender> {
  const runtime = await createRuntime({ kinds: { job: jobMachine } });
  const sends = await sendersOf(runtime, '');
  return {
    name,
    async run() {
      const startedAt = performance.now();
      await closedLoop(turns, IN_FLIGHT, sends);
      return perSecond(turns, startedAt);
    },
    end: () => runtime.stop(),
  };
}

/** Handles of a second runtime in this process: outbox, envelope, frame, receipt. */
async function remote(name: string, turns: number): Promise<Contender> {
  const network = inProcessNetwork();
  const host = await createRuntime({
    node: 'host',
    transport: network.join('host'),
    kinds: { job: jobMachine },
  });
  const caller = await createRuntime({
    node: 'caller',
    transport: network.join('caller'),
    limits: { outboxMax: 2 * IN_FLIGHT },
    kinds: { job: jobMachine },
  });
  const sends = await sendersOf(caller, '@host');
  return {
    name,
    async run() {
      const startedAt = performance.now();
      await closedLoop(turns, IN_FLIGHT, sends);
      return perSecond(turns, startedAt);
    },
    async end() {
      await caller.stop();
      await host.stop();
    },
  };
}

/** Brings all jobs to life and returns what sends the next event. */
async function sendersOf(
  runtime: { spawn(address: string, options: object): Promise<unknown> },
  suffix: string,
): Promise<(number: number) => Promise<unknown>> {
  const script = new JobScript(ACTORS);
  const jobs: ActorHandle[] = [];
  const spawn = async (index: number): Promise<void> => {
    jobs[index] = (await runtime.spawn(`job/${index}${suffix}`, {
      input: JOB_INPUT,
    })) as ActorHandle;
  };
  await closedLoop(ACTORS, 100, spawn);
  await closedLoop(
    ACTORS,
    100,
    (index) => jobs[index]?.send({ type: 'job.started' }) as Promise<void>,
  );
  return (number) => {
    const index = number % ACTORS;
    const step = script.next(index);
    return step === 'birth'
      ? spawn(index)
      : (jobs[index]?.send(eventFor(step, number)) as Promise<void>);
  };
}

function eventFor(step: Step, number: number, at?: number): JobEvent {
  if (step === 'progress')
    return at === undefined
      ? { type: 'job.progressed', step: number }
      : { type: 'job.progressed', step: number, at };
  const type = step === 'complete' ? 'job.completed' : 'job.started';
  return at === undefined ? { type } : { type, at };
}

function perSecond(count: number, startedAt: number): number {
  return (count / (performance.now() - startedAt)) * 1_000;
}
