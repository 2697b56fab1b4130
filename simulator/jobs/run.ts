/**
 * One run: a plan played on a pretend world, watched by invariants.
 *
 * Guarantees: the same plan gives the same history, in any process and in any order of runs. The
 * cluster comes up before zero without any fault; a plan whose cluster does not come up is an error
 * and no violation.
 */

import { placeOf } from '../../runtime/base/address.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { DEFAULT_LIMITS } from '../../runtime/base/limits.ts';
import { heal, Strikes } from '../faults.ts';
import type { CommitFact, History, HistoryRecord } from '../history.ts';
import { Judge, type Judgement } from '../invariants.ts';
import { disksIn, withinBounds } from '../simulation.ts';
import { commitDelayOf, type Outside, sealed, World } from '../world.ts';
import { BOOK, Book } from './book.ts';
import { Clients } from './clients.ts';
import { coreOf, epsilonOf } from './core.ts';
import type { JobsFacts, JobsInvariant } from './facts.ts';
import { JOBS_MENU } from './faults/menu.ts';
import { jobsInvariants } from './invariants/index.ts';
import type { Plan, Step } from './plan.ts';
import type { JobsScene } from './scene.ts';
import { shapeOf } from './shape.ts';
import { carryOut, lead } from './steps.ts';
import { isTimer, JobsSystem } from './system.ts';

export interface PlayOptions {
  /** Default: all there are for jobs. */
  readonly invariants?: readonly JobsInvariant[];
  /** Ends the run at the first violation. Default false. */
  readonly endsAtViolation?: boolean;
  /** Hears every record while the run goes on. */
  readonly reader?: (facts: JobsFacts) => (record: HistoryRecord) => void;
  /** False: the history is told to readers only, which leaves most of the memory free. Default true. */
  readonly keepsHistory?: boolean;
}

export interface Run {
  readonly plan: Plan;
  readonly history: History;
  readonly facts: JobsFacts;
  readonly judgement: Judgement;
  readonly endedAtMs: number;
  /** Moment of the clock at which its time begins. */
  readonly zero: number;
  readonly traceHash: string;
  /** Turns taken, and the messages and the timers that they took. */
  readonly events: number;
}

const UNTIL_MAX_MS = 24 * 3_600_000;
/** Length of the rest of a plan of chance, after the last fault and the last step, whatever is still open. */
const AFTERMATH_MAX_MS = 1_800_000;
/** How long the first election, registration and greeting take, beside the first heartbeat. */
const COMING_UP_MS = 30_000;

/** @throws {RuntimeError} SEALED when something in the run reaches for real time, chance or I/O. */
export function play(plan: Plan, options: PlayOptions = {}): Promise<Run> {
  return sealed((outside) => withinBounds(plan.bounds, () => playSealed(plan, options, outside)));
}

async function playSealed(plan: Plan, options: PlayOptions, outside: Outside): Promise<Run> {
  const { invariants = jobsInvariants, endsAtViolation = false, keepsHistory = true } = options;
  const { seed, network } = plan;
  const world = new World({
    seed,
    delayMs: network.delayMs,
    warmUpMs: COMING_UP_MS,
    drawsTies: plan.isDrawn === true,
    outside,
    keepsHistory,
    disks: disksIn(plan.bounds),
    ...commitDelayOf(plan),
  });
  const system = new JobsSystem(world, plan);
  const book = plan.book && new Book(world, plan.book);
  const scene: JobsScene = {
    world,
    system,
    shape: shapeOf(plan.topology, system.config),
    clients: new Clients(world),
  };
  const facts = factsOf(plan, system, world);
  const judge = new Judge(invariants, facts);
  const { history } = world;
  history.read((record) => judge.see(record));
  const events = new EventCounter();
  history.read((record) => events.see(record));
  if (options.reader !== undefined) history.read(options.reader(facts));
  const finals = new Finals(scene);
  const strikes = new Strikes(scene, plan, JOBS_MENU);
  await bringUp(plan, scene);
  disturb(plan, scene, strikes, facts.core);
  book?.schedule();
  for (const step of plan.steps)
    world.at(step.atMs, () =>
      plan.isDrawn === true ? tryOut(step, scene) : carryOut(step, scene),
    );
  const moments = [...plan.steps, ...(plan.book?.entries ?? []), ...(plan.book?.deaths ?? [])];
  const lastStepMs = Math.max(0, ...moments.map(({ atMs }) => atMs));
  const isOver = (): boolean => {
    if (endsAtViolation && judge.hasViolations) return true;
    return plan.untilMs === null && world.now() > lastStepMs && finals.areAll;
  };
  const longestMs =
    plan.isDrawn === true
      ? Math.max(lastStepMs, plan.healAtMs ?? 0) + AFTERMATH_MAX_MS
      : UNTIL_MAX_MS;
  await world.runUntil(plan.untilMs ?? longestMs, isOver);
  // What a disk has just written is shown in the same moment, and belongs to the run.
  if (!(endsAtViolation && judge.hasViolations)) await world.runUntil(world.now());
  strikes.tally();
  const endedAtMs = world.now();
  const judgement = judge.end(endedAtMs);
  const { traceHash } = history;
  const total = events.count + system.electionEvents;
  const { zero } = world;
  return { plan, history, facts, judgement, endedAtMs, zero, traceHash, events: total };
}

/** Turns, and what they took. */
class EventCounter {
  count = 0;

  see(record: HistoryRecord): void {
    if (record.type !== 'turn') return;
    this.count += record.from !== undefined || isTimer(record.event.type) ? 2 : 1;
  }
}

/** Chance did not know how the run would go: what cannot be done is left out. */
function tryOut(step: Step, scene: JobsScene): unknown {
  try {
    return carryOut(step, scene);
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError) || thrown.code !== 'SCENARIO_INVALID') throw thrown;
    const fields = { step: step.do, plannedAtMs: step.atMs, why: thrown.message };
    scene.world.history.add('', { type: 'log', level: 'debug', message: 'step left out', fields });
    return undefined;
  }
}

/** Everything is up, has registered and was heard, and the first managers lead. */
async function bringUp({ steps, topology }: Plan, scene: JobsScene): Promise<void> {
  const { world, system, clients } = scene;
  const { pace } = world;
  const appointed = new Set(steps.filter(isLead).map(({ manager }) => world.node(manager).place));
  for (const step of steps)
    if (step.do === 'skew' && step.atMs <= 0) world.node(step.node).skewMs = step.byMs;
  for (const datacenter of system.datacenters) {
    const [first] = system.managersOf(datacenter);
    if (first === undefined) continue;
    if (appointed.has(datacenter)) lead(first, scene);
    await pace.during(world.node(first).start());
    await pace.runUntil(world.clock.now() + 5_000, () => world.hostOf(datacenter) !== undefined);
  }
  for (const node of world.nodes()) if (!node.isUp) await pace.during(node.start());
  for (const place of [...system.gates, ...Object.keys(topology.datacenters)])
    await pace.during(clients.connect(place));
  if (world.now() > -1_000)
    throw new Error(`The cluster took too long to come up: it is ${world.now()} ms.`);
  await world.runUntil(0);
}

/** All that is done to the cluster from zero on, and the end of it. */
function disturb(
  plan: Plan,
  scene: JobsScene,
  strikes: Strikes<JobsScene>,
  core: readonly string[],
): void {
  const { world } = scene;
  const { loss, duplicate, reorder, delayMs } = plan.network;
  const withinMs = 10 * Math.max(1, delayMs[1]);
  const isNoisy = loss + duplicate + reorder > 0;
  const nodes = world.nodes().map(({ node }) => node);
  const noise = {
    loss,
    duplicate: { share: duplicate, withinMs },
    reorder: { share: reorder, withinMs },
  };
  const always = isNoisy
    ? world.network.disturb({ id: 'network', from: nodes, to: nodes, noise })
    : undefined;
  strikes.schedule();
  if (plan.healAtMs === null) return;
  world.at(plan.healAtMs, () => {
    always?.end();
    heal(scene, core, strikes);
  });
}

function isLead(step: Step): step is Extract<Step, { do: 'lead' }> {
  return step.do === 'lead';
}

function factsOf(plan: Plan, system: JobsSystem, world: World): JobsFacts {
  const { loss, duplicate, reorder } = plan.network;
  const { dedupRetentionMs, jobRetentionMs } = system.config;
  return {
    places: Object.fromEntries(world.nodes().map(({ node, place }) => [node, place])),
    epsilonMs: epsilonOf(plan),
    deltaMs: plan.network.delayMs[1],
    healedAtMs: plan.healAtMs,
    dedupRetentionMs: dedupRetentionMs ?? Math.min(jobRetentionMs, DEFAULT_LIMITS.dedupRetentionMs),
    core: coreOf(plan),
    isFaultFree:
      plan.nemeses.length === 0 &&
      plan.book === undefined &&
      loss + duplicate + reorder === 0 &&
      !plan.steps.some(isFault),
    config: system.config,
    gates: system.gates,
    datacenters: system.datacenters,
    ...(plan.book !== undefined && {
      book: plan.book,
      dedupRetentionMsAt: { [BOOK]: plan.book.dedupRetentionMs },
    }),
    ...(plan.bounds !== undefined && { bounds: plan.bounds }),
    dropsHints: plan.bounds?.['limit.mailboxMax'] !== undefined,
    refusesQuestions: plan.bounds?.['limit.questionsMax'] !== undefined,
  };
}

function isFault(step: Step): boolean {
  return !['submit', 'cancel', 'get', 'ask', 'extendJob', 'extend'].includes(step.do);
}

/** How the record of an actor ends that has ended itself. */
const ENDED = /,"status":"(?:done|stopped)"(?:,"stopReason":"[^"]*")?\}$/;
/** As long as such an end may be. */
const ENDED_LENGTH_MAX = 500;

/**
 * Whether every job that was submitted has ended everywhere. Of what was durable when a node died or
 * lost its place nobody may ever tell: then the disk says it.
 */
class Finals {
  readonly #open = new Set<string>();
  /** Jobs among those that have ended by what is on disk. */
  readonly #ended = new Set<string>();
  readonly #clients: Clients;

  constructor({ world, clients }: JobsScene) {
    this.#clients = clients;
    world.history.read((record) => {
      if (record.type === 'commit') this.#take(record.writes);
      else if (record.type === 'actor' && record.change !== 'born') this.#close(record.address);
      else if (record.type === 'node' && record.change === 'crashed')
        this.#closeEnded(world.node(record.node).place);
      else if (record.type === 'lease' && record.change === 'acquired')
        this.#closeEnded(record.place);
      else if (record.type === 'fault' && record.kind === 'diskLost') this.#forget(record.about);
    });
  }

  get areAll(): boolean {
    return this.#open.size === 0 && this.#clients.open === 0;
  }

  #take(writes: CommitFact['writes']): void {
    for (const { address, record } of writes) {
      if (!address.startsWith('job/') && !address.startsWith('gate-job/')) continue;
      const hasEnded = record === null || ENDED.test(record.slice(-ENDED_LENGTH_MAX));
      if (!hasEnded) this.#open.add(address);
      else if (this.#open.has(address)) this.#ended.add(address);
    }
  }

  #close(address: string): void {
    this.#open.delete(address);
    this.#ended.delete(address);
  }

  #closeEnded(place: string): void {
    for (const address of this.#ended) if (placeOf(address) === place) this.#close(address);
  }

  /** What was on a disk that is lost is done by nobody, unless it comes back. */
  #forget(about: unknown): void {
    const { place } = about as { readonly place?: string };
    for (const address of this.#open) if (placeOf(address) === place) this.#close(address);
  }
}
