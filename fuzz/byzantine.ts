/**
 * A run of the fuzzer as a peer of one role: proved, and lying about everything that it can say.
 *
 * Guarantees: what is sent follows from the seed; what the role must not change is compared with what it
 * was before, by remit.ts; the node has to go on leading under the same fences, to open again from its
 * directory afterwards, and to have sound data in it.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { playByzantine } from './byzantine-session.ts';
import { type Corpus, recordCorpus } from './corpus.ts';
import { type Compiled, NodeProcess, wordsFor } from './node-process.ts';
import type { NodeStatus, Plant } from './node-program.ts';
import { type ByzantineRole, changeOf } from './remit.ts';
import { settleIn } from './victims.ts';

export interface ByzantineOptions {
  readonly as: ByzantineRole;
  readonly frames: number;
  readonly seed: string;
  readonly plant?: Plant | undefined;
  readonly corpus?: Corpus;
  /** The programs it starts; left out: the sources. */
  readonly compiled?: Compiled;
  /** End with the first finding. Default: all frames are sent. */
  readonly endsAtFinding?: boolean;
  readonly progress?: (line: string) => void;
}

export interface ByzantineFindings {
  readonly as: ByzantineRole;
  readonly seed: string;
  readonly frames: number;
  readonly crashes: number;
  readonly crashed: ReadonlyArray<{ readonly seeds: readonly string[]; readonly ending: string }>;
  /** Sessions that were let in as somebody whom the peer may not be. */
  readonly strangersLetIn: number;
  readonly stateChangesOutsideRemit: number;
  readonly outside: readonly string[];
  /** Waves of sessions during which the node stood still, see stalls.ts. */
  readonly stalls: number;
  readonly longestStallMs: number;
  readonly unanswered: number;
  /** It leads under the fences of the beginning. */
  readonly stillLeader: boolean;
  /** Its data are sound, and it opens again from them. */
  readonly verifyClean: boolean;
  readonly closedBy: Readonly<Record<string, number>>;
  readonly refusals: Readonly<Record<string, number>>;
  readonly residentMiB: number;
  readonly seconds: number;
}

const SESSIONS_AT_ONCE = 16;
/** Waves between two looks at what must not change. */
const LOOK_EVERY = 25;
const SETTLE_MS = 300;
const SETTLE_LOOKS = 60;
export function hasByzantineFindings(found: ByzantineFindings): boolean {
  const { crashes, strangersLetIn, stateChangesOutsideRemit, unanswered } = found;
  const isSound = found.stillLeader && found.verifyClean;
  return crashes + strangersLetIn + stateChangesOutsideRemit + unanswered > 0 || !isSound;
}

export async function fuzzAs(options: ByzantineOptions): Promise<ByzantineFindings> {
  const data = mkdtempSync(join(tmpdir(), 'escapement-fuzz-'));
  try {
    const corpus = options.corpus ?? (await recordCorpus());
    return await new ByzantineRun(options, corpus, data).play();
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

class ByzantineRun {
  readonly #options: ByzantineOptions;
  readonly #corpus: Corpus;
  readonly #data: string;
  readonly #startedAt = performance.now();
  readonly #crashed: Array<{ seeds: readonly string[]; ending: string }> = [];
  /** What changed that must not, by address or number, and how. */
  readonly #outside = new Map<string, string>();
  readonly #closedBy: Record<string, number> = {};
  readonly #refusals: Record<string, number> = {};
  #frames = 0;
  #strangersLetIn = 0;
  #unanswered = 0;
  #stalls = 0;
  #longestStallMs = 0;
  #residentMiB = 0;
  #isLeader = true;
  #before: NodeStatus | undefined;

  constructor(options: ByzantineOptions, corpus: Corpus, data: string) {
    this.#options = options;
    this.#corpus = corpus;
    this.#data = data;
  }

  async play(): Promise<ByzantineFindings> {
    const { frames, seed, endsAtFinding = false, progress = () => {} } = this.#options;
    const node = await this.#start();
    const honest = await settleIn(node.urls, this.#options.as);
    this.#before = await this.#settled(node);
    let wave = 0;
    for (; this.#frames < frames && node.ending === undefined; wave += 1) {
      if (endsAtFinding && (this.#outside.size > 0 || !this.#isLeader)) break;
      const seeds = Array.from(
        { length: SESSIONS_AT_ONCE },
        (_, slot) => `${seed}:${wave}:${slot}`,
      );
      await Promise.all(seeds.map((one, slot) => this.#session(node, one, slot)));
      await this.#look(node, seeds, wave % LOOK_EVERY === LOOK_EVERY - 1);
      if (wave % LOOK_EVERY === 0)
        progress(`${this.#frames} frames, ${this.#outside.size} outside`);
    }
    this.#judge(await this.#settled(node), 'the end');
    await honest();
    await node.end();
    return this.#findings(await this.#isSoundAfterwards());
  }

  #start(): Promise<NodeProcess> {
    const { as, plant, compiled } = this.#options;
    return NodeProcess.start(plant, [`--as=${as}`, `--data=${this.#data}`], compiled);
  }

  async #session(node: NodeProcess, seed: string, slot: number): Promise<void> {
    const { as } = this.#options;
    const end = await playByzantine(as, seed, this.#corpus, node.urls, slot);
    this.#frames += end.frames;
    if (end.isStranger && end.closedBy !== -1) this.#strangersLetIn += 1;
    this.#closedBy[end.closedBy] = (this.#closedBy[end.closedBy] ?? 0) + 1;
    for (const code of end.refusals) this.#refusals[code] = (this.#refusals[code] ?? 0) + 1;
    if (!(await end.isAnswered) && node.ending === undefined) this.#unanswered += 1;
  }

  async #look(node: NodeProcess, seeds: readonly string[], isThorough: boolean): Promise<void> {
    const status = await node.status(isThorough);
    if (status === undefined) {
      this.#crashed.push({ seeds, ending: node.ending ?? 'does not answer' });
      return;
    }
    this.#residentMiB = status.residentMiB;
    // Looking at everything is the fuzzer's own doing.
    const longest = Math.max(0, ...status.stalls.map(({ ms }) => ms));
    if (longest > 0) this.#stalls += 1;
    this.#longestStallMs = Math.max(this.#longestStallMs, longest);
    this.#judge(status, isThorough ? (seeds[0] as string) : undefined);
  }

  /** `when`: with what the role must not change; otherwise only how the place stands. */
  #judge(status: NodeStatus | undefined, when: string | undefined): void {
    const before = this.#before;
    if (status?.standing === undefined || before?.standing === undefined) {
      this.#isLeader = false;
      return;
    }
    const { isLeading, fences, beyondReach } = status.standing;
    if (!isLeading || String(fences) !== String(before.standing.fences)) this.#isLeader = false;
    for (const number of beyondReach) this.#found(number, number);
    if (when === undefined) return;
    for (const address of new Set([
      ...Object.keys(before.digests),
      ...Object.keys(status.digests),
    ])) {
      const isNew = before.digests[address] === undefined;
      if (isNew && this.#mayBring(address)) continue;
      const change = changeOf(before.digests[address], status.digests[address]);
      if (change !== undefined) this.#found(address, `${address} ${change}`);
    }
  }

  /** Told at once: a long run may be ended before its findings are printed. */
  #found(key: string, what: string): void {
    if (this.#outside.has(key)) return;
    this.#outside.set(key, what);
    this.#options.progress?.(`outside: ${what}`);
  }

  /** Clients hand in jobs, under any id that is free at the jobs service they ask. */
  #mayBring(address: string): boolean {
    return this.#options.as === 'client' && !address.startsWith('worker');
  }

  /** Once nothing is under way any more. */
  async #settled(node: NodeProcess): Promise<NodeStatus | undefined> {
    let before = await node.status(true);
    for (let looks = 0; looks < SETTLE_LOOKS && before !== undefined; looks += 1) {
      await sleep(SETTLE_MS);
      const status = await node.status(true);
      if (JSON.stringify(status?.digests) === JSON.stringify(before.digests)) return status;
      before = status;
    }
    return before;
  }

  /** `data verify` of both directories, and the node from them once more. */
  async #isSoundAfterwards(): Promise<boolean> {
    const main = wordsFor('cli/main.ts', this.#options.compiled);
    for (const place of ['A', 'gate']) {
      const verify = [...main, 'data', 'verify', join(this.#data, place)];
      if (spawnSync(process.execPath, verify, { stdio: 'ignore' }).status !== 0) return false;
    }
    try {
      const again = await this.#start();
      let status = await again.status();
      for (
        let looks = 0;
        looks < SETTLE_LOOKS && status?.standing?.isLeading === false;
        looks += 1
      ) {
        await sleep(SETTLE_MS);
        status = await again.status();
      }
      await again.end();
      return status?.standing?.isLeading === true;
    } catch {
      return false;
    }
  }

  #findings(verifyClean: boolean): ByzantineFindings {
    const { as, seed } = this.#options;
    return {
      as,
      seed,
      frames: this.#frames,
      crashes: this.#crashed.length,
      crashed: this.#crashed,
      strangersLetIn: this.#strangersLetIn,
      stateChangesOutsideRemit: this.#outside.size,
      outside: [...this.#outside.values()].slice(0, 50),
      stalls: this.#stalls,
      longestStallMs: this.#longestStallMs,
      unanswered: this.#unanswered,
      stillLeader: this.#isLeader && this.#crashed.length === 0,
      verifyClean,
      closedBy: this.#closedBy,
      refusals: this.#refusals,
      residentMiB: this.#residentMiB,
      seconds: Math.round((performance.now() - this.#startedAt) / 100) / 10,
    };
  }
}
