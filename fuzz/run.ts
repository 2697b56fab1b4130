/**
 * A run of the fuzzer: strangers first, then peers that have proved who they are and misbehave.
 *
 *   strangers   nothing that is committed may change, and nobody may be let in
 *   peers       the node may refuse, and close, whatever it likes; it lives, answers and does not stall
 *   suspects    a session during which the node stalled is played again alone, frame by frame, three
 *               times, to a new node; only what stalls each time counts, so that it is a frame that
 *               blocks the node and not the number of frames that came together
 *
 * Guarantees: what is sent follows from the seed alone, so that a finding can be played again; a node
 * that has ended is replaced, and the run goes on.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { connectClient } from '../programs/jobs/client.ts';
import { JOBS_ROLES } from '../programs/jobs/peer-roles.ts';
import { websocketTransport } from '../transports/websocket.ts';
import { type Corpus, RECORDED_JOB, recordCorpus } from './corpus.ts';
import { Dice } from './dice.ts';
import { intrude, openSession } from './handshake.ts';
import { CLIENT, OPEN, TOKEN } from './names.ts';
import { type Compiled, NodeProcess } from './node-process.ts';
import type { Plant } from './node-program.ts';
import { playSession, trespass } from './session.ts';
import type { Stall } from './stalls.ts';

export interface FuzzOptions {
  readonly frames: number;
  readonly seed: string;
  /** A fault put into the node on purpose, which has to be found. */
  readonly plant?: Plant | undefined;
  /** Stalls after which no further suspect is played. Default 10. */
  readonly stallsMax?: number;
  /** What is mutated. Default: recorded again. */
  readonly corpus?: Corpus;
  /** The programs it starts; left out: the sources. */
  readonly compiled?: Compiled;
  readonly progress?: (line: string) => void;
}

export interface Findings {
  readonly seed: string;
  readonly frames: number;
  /** What the node ended of, and during which sessions. */
  readonly crashes: number;
  readonly crashed: ReadonlyArray<{ readonly seeds: readonly string[]; readonly ending: string }>;
  /** Strangers that were let in. */
  readonly admitted: number;
  /** How many actors strangers have changed, and which. */
  readonly stateChanges: number;
  readonly changed: readonly string[];
  /** Sessions that make the node stall each time they are played alone. */
  readonly stalls: ReadonlyArray<{ readonly seed: string; readonly units: readonly number[] }>;
  /** Sessions during which it stalled, whether or not it did so again. */
  readonly suspects: number;
  /** Sessions that the node has neither answered nor ended. */
  readonly unanswered: readonly string[];
  readonly refusals: Readonly<Record<string, number>>;
  readonly closedBy: Readonly<Record<string, number>>;
  /** What the node has counted of its sockets. */
  readonly counters: Readonly<Record<string, number>>;
  readonly residentMiB: number;
  readonly seconds: number;
}

/** Share of all frames that strangers send: each costs a connection. */
const STRANGERS_SHARE = 0.02;
const STRANGERS_MIN = 320;
const STRANGERS_MAX = 20_000;
const STRANGERS_AT_ONCE = 16;
const SESSIONS_AT_ONCE = 16;
const SUSPECTS_MAX = 200;
const STALLS_MAX = 10;
const REPLAYS = 3;
/** Sessions that a new node is played before it counts how long something takes. */
const WARM_UP = 20;
const SETTLE_LOOKS = 50;
const SETTLE_PAUSE_MS = 200;

export function hasFindings(found: Findings): boolean {
  const { crashes, admitted, stateChanges, stalls, unanswered } = found;
  return crashes + admitted + stateChanges + stalls.length + unanswered.length > 0;
}

export async function fuzz(options: FuzzOptions): Promise<Findings> {
  const run = new FuzzRun(options, options.corpus ?? (await recordCorpus()));
  return run.play();
}

class FuzzRun {
  readonly #options: FuzzOptions;
  readonly #corpus: Corpus;
  readonly #startedAt = performance.now();
  readonly #refusals: Record<string, number> = {};
  readonly #closedBy: Record<string, number> = {};
  readonly #crashed: Array<{ seeds: readonly string[]; ending: string }> = [];
  readonly #stalls: Array<{ seed: string; units: readonly number[] }> = [];
  readonly #unanswered: string[] = [];
  readonly #suspects = new Set<string>();
  readonly #pending = new Set<Promise<void>>();
  #counters: Readonly<Record<string, number>> = {};
  #residentMiB = 0;
  #frames = 0;
  #admitted = 0;
  #changed: readonly string[] = [];

  constructor(options: FuzzOptions, corpus: Corpus) {
    this.#options = options;
    this.#corpus = corpus;
  }

  async play(): Promise<Findings> {
    const { frames, seed, progress = () => {} } = this.#options;
    let node = await this.#startNode();
    progress('strangers');
    const strangers = Math.max(STRANGERS_MIN, Math.min(STRANGERS_MAX, frames * STRANGERS_SHARE));
    await this.#strangers(node, strangers);
    if (node.ending !== undefined) node = await this.#startNode();
    await this.#addGateJob(node);
    for (let wave = 0; this.#frames < frames; wave += 1) {
      if (wave % 20 === 0) progress(`${this.#frames} frames`);
      const seeds = Array.from(
        { length: SESSIONS_AT_ONCE },
        (_, slot) => `${seed}:${wave}:${slot}`,
      );
      if (!(await this.#wave(node, seeds))) {
        await node.end();
        node = await this.#startNode();
        await this.#addGateJob(node);
      }
    }
    await Promise.all(this.#pending);
    await node.end();
    progress(`${this.#suspects.size} suspects`);
    await this.#replaySuspects();
    return this.#findings();
  }

  /** A node with a job of which nothing changes by itself. */
  async #startNode(): Promise<NodeProcess> {
    const node = await NodeProcess.start(this.#options.plant, [], this.#options.compiled);
    await submit(node.urls.manager, 'A', {});
    return node;
  }

  /** The other job that the recorded envelopes speak of: its gate and its datacenter keep in touch. */
  async #addGateJob(node: NodeProcess): Promise<void> {
    await submit(node.urls.gate, 'gate', { targetDatacenters: ['A', ...OPEN.datacenters] });
    await node.status();
  }

  async #strangers(node: NodeProcess, count: number): Promise<void> {
    const { manager, gate } = node.urls;
    const claim = { node: 'A.worker-0', role: 'worker', place: 'A.worker-0' } as const;
    const known = await openSession(new URL(manager), { ...claim, bootEpoch: 1 });
    known?.socket.end();
    const before = await settledDigests(node);
    const dice = new Dice(`${this.#options.seed}:strangers`);
    const one = async (): Promise<void> => {
      const { status, session } = await intrude(
        new URL(dice.pick([manager, gate])),
        dice,
        known?.headers ?? {},
      );
      this.#frames += 1;
      noteOne(this.#refusals, `HTTP ${status}`);
      if (session === undefined) return;
      this.#admitted += 1;
      this.#frames += await trespass(session, dice, this.#corpus);
    };
    for (let sent = 0; sent < count && node.ending === undefined; sent += STRANGERS_AT_ONCE)
      await Promise.all(Array.from({ length: STRANGERS_AT_ONCE }, one));
    const after = await settledDigests(node);
    if (before === undefined || after === undefined) this.#noteCrash(node, ['strangers']);
    else this.#changed = differences(before, after);
  }

  /** False when the node is no longer there, or no longer answers. */
  async #wave(node: NodeProcess, seeds: readonly string[]): Promise<boolean> {
    await Promise.all(seeds.map((seed, slot) => this.#session(node, seed, slot)));
    const status = await node.status();
    if (status === undefined) {
      this.#noteCrash(node, seeds);
      return false;
    }
    if (status.stalls.length > 0) for (const seed of seeds) this.#suspects.add(seed);
    this.#counters = status.counters;
    this.#residentMiB = status.residentMiB;
    return true;
  }

  async #session(node: NodeProcess, seed: string, slot: number): Promise<void> {
    const end = await playSession(seed, this.#corpus, node.urls, slot);
    this.#frames += end.frames;
    noteOne(this.#closedBy, String(end.closedBy));
    for (const code of end.refusals) noteOne(this.#refusals, code);
    const answer = end.isAnswered.then((isAnswered) => {
      if (!isAnswered && node.ending === undefined) this.#unanswered.push(seed);
      this.#pending.delete(answer);
    });
    this.#pending.add(answer);
  }

  async #replaySuspects(): Promise<void> {
    const suspects = [...this.#suspects].slice(0, SUSPECTS_MAX);
    if (suspects.length === 0) return;
    const node = await this.#startNode();
    await this.#addGateJob(node);
    const { seed, stallsMax = STALLS_MAX } = this.#options;
    const stallsOf = async (): Promise<readonly Stall[]> => (await node.status())?.stalls ?? [];
    const alone = async (one: string): Promise<number> => {
      let longest = 0;
      const settled = async (): Promise<void> => {
        longest = Math.max(longest, ...(await stallsOf()).map(({ units }) => units));
      };
      await playSession(one, this.#corpus, node.urls, 0, settled);
      await settled();
      return longest;
    };
    for (let number = 0; number < WARM_UP; number += 1) await alone(`${seed}:warm-up:${number}`);
    for (const suspect of suspects) {
      const units: number[] = [];
      while (units.length < REPLAYS && !units.includes(0)) units.push(await alone(suspect));
      if (!units.includes(0)) this.#stalls.push({ seed: suspect, units });
      if (node.ending !== undefined || this.#stalls.length >= stallsMax) break;
    }
    await node.end();
  }

  #noteCrash(node: NodeProcess, seeds: readonly string[]): void {
    this.#crashed.push({ seeds, ending: node.ending ?? 'does not answer' });
  }

  #findings(): Findings {
    return {
      seed: this.#options.seed,
      frames: this.#frames,
      crashes: this.#crashed.length,
      crashed: this.#crashed,
      admitted: this.#admitted,
      stateChanges: this.#changed.length,
      changed: this.#changed,
      stalls: this.#stalls,
      suspects: this.#suspects.size,
      unanswered: this.#unanswered,
      refusals: sorted(this.#refusals),
      closedBy: sorted(this.#closedBy),
      counters: this.#counters,
      residentMiB: this.#residentMiB,
      seconds: Math.round((performance.now() - this.#startedAt) / 100) / 10,
    };
  }
}

async function submit(url: string, to: string, terms: object): Promise<void> {
  const name = `${CLIENT}~${to}`;
  const transport = websocketTransport({
    node: name,
    role: 'client',
    roles: JOBS_ROLES,
    peers: [url],
    token: TOKEN,
  });
  const client = await connectClient({ client: name, to, transport });
  await client.submit({ ...RECORDED_JOB, ...terms, jobId: `one-${to}` });
  await client.stop();
}

type Digests = Readonly<Record<string, string>>;

/** Digests of everything that is committed, once nothing is under way. */
async function settledDigests(node: NodeProcess): Promise<Digests | undefined> {
  let before = (await node.status(true))?.digests;
  for (let looks = 0; looks < SETTLE_LOOKS && before !== undefined; looks += 1) {
    await sleep(SETTLE_PAUSE_MS);
    const digests = (await node.status(true))?.digests;
    if (digests !== undefined && differences(before, digests).length === 0) break;
    before = digests;
  }
  return before;
}

/** Addresses that are new, gone or changed. */
function differences(before: Digests, after: Digests): string[] {
  const all = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...all].filter((address) => before[address] !== after[address]);
}

function noteOne(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

function sorted(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).sort(([, a], [, b]) => b - a));
}
