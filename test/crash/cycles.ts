/**
 * The crash rig: kills a node again and again under load, and says whether anything it had
 * acknowledged is gone or came twice.
 *
 * This process hosts the sinks and survives; the victim is started over the same directory each
 * time, as another node of the same place. After the last start nobody is killed: everything
 * outstanding is delivered, and then the verdict is taken from the sinks, from the stored records
 * and from a strict open. What a killed process proves is that nothing leaves before it is
 * committed; that it is synced by then, a trace proves (test/durability/sync.test.ts).
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createRuntime, lmdbStore } from '../../index.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { SeededRandom } from '../../simulator/world/random.ts';
import { ChannelTransport } from './channel-transport.ts';
import { type Counter, countersOf, Load, spawnIt } from './load.ts';
import { type CounterContext, sinkMachine } from './machines.ts';
import { LIMITS, PARENT, VICTIM } from './places.ts';
import { type Findings, Tally } from './tally.ts';
import { VictimProcess } from './victim-process.ts';

export interface RigOptions {
  readonly cycles: number;
  readonly seed: number;
  /** The victim is killed so long after its first acknowledgement. Default 20 to 1,500. */
  readonly killMinMs?: number;
  readonly killMaxMs?: number;
  /** Default 400. */
  readonly counters?: number;
  /** Default 256. */
  readonly inFlight?: number;
  /** A fault in the victim that the rig has to find. */
  readonly plant?: string;
  /** Keep the directory and say where it is. */
  readonly isKept?: boolean;
  readonly progress?: (line: string) => void;
}

export interface RigReport extends Findings {
  readonly cycles: number;
  readonly seed: number;
  /** Acknowledgements per cycle, on average. */
  readonly acksPerCycle: number;
  readonly sent: number;
  readonly acked: number;
  readonly refused: readonly string[];
  readonly ticks: number;
  /** From the start of a process to its first acknowledgement. */
  readonly recoveryMs: { readonly p50: number; readonly p99: number };
  readonly killedAtMs: { readonly min: number; readonly p50: number; readonly max: number };
  readonly fencesRose: boolean;
  /** What a strict open said; `sound` when it was content. */
  readonly strictOpen: string;
  readonly seconds: number;
  readonly directory?: string;
  readonly hasHeld: boolean;
}

/** So long without anything new, and what is missing will not come any more. */
const QUIET_MS = 4_000;
const LOOK_MS = 20;

export async function runCycles(options: RigOptions): Promise<RigReport> {
  const directory = mkdtempSync(join(tmpdir(), 'escapement-crash-'));
  const rig = new Rig(directory, options);
  try {
    return await rig.run();
  } finally {
    await rig.end();
    if (options.isKept !== true) rmSync(directory, { recursive: true, force: true });
  }
}

class Rig {
  readonly #directory: string;
  readonly #options: RigOptions;
  readonly #transport = new ChannelTransport();
  readonly #tally = new Tally();
  readonly #counters: readonly Counter[];
  readonly #fences: number[] = [];
  readonly #recoveriesMs: number[] = [];
  readonly #killedAtMs: number[] = [];
  #runtime: Runtime | undefined;
  #load: Load | undefined;
  #victim: VictimProcess | undefined;
  #firstAck: (() => void) | undefined;

  constructor(directory: string, options: RigOptions) {
    this.#directory = directory;
    this.#options = options;
    this.#counters = countersOf(options.counters ?? 400);
  }

  async run(): Promise<RigReport> {
    const begun = performance.now();
    const { cycles, seed, progress, inFlight = 256 } = this.#options;
    const random = new SeededRandom(seed, 'crash');
    const runtime = await this.#host();
    let victim = await this.#start(0);
    await spawnIt(runtime, this.#counters);
    const load = new Load({
      runtime,
      random: random.stream('load'),
      counters: this.#counters,
      inFlight,
      acknowledged: (add) => {
        this.#tally.acknowledged(add);
        this.#firstAck?.();
      },
    });
    this.#load = load;
    const moments = random.stream('kills');
    for (let cycle = 1; cycle <= cycles; cycle += 1) {
      await this.#killWithin(victim, moments.next());
      victim = await this.#start(cycle);
      progress?.(`cycle ${cycle} of ${cycles}, ${this.#tally.acked} acknowledged`);
    }
    const restartedAt = Date.now();
    await this.#firstAckOf(victim);
    const acksPerCycle = Math.round(this.#tally.acked / Math.max(1, cycles));
    await Promise.race([load.end(), this.#quiet()]);
    const ticking = this.#counters.filter(({ role }) => role === 'ticking');
    const addresses = ticking.map(({ address }) => address);
    await Promise.race([this.#complete(addresses, restartedAt), this.#quiet()]);
    victim.stop();
    const ending = await victim.over;
    if (ending !== 0) throw victim.unwanted(ending);
    return this.#report({
      acksPerCycle,
      load,
      ticking: { counters: addresses, since: restartedAt },
      seconds: (performance.now() - begun) / 1_000,
    });
  }

  async end(): Promise<void> {
    this.#load?.stop();
    this.#victim?.kill();
    this.#runtime?.crash();
    await this.#victim?.over;
  }

  async #host(): Promise<Runtime> {
    const runtime = await createRuntime({
      node: PARENT,
      transport: this.#transport,
      telemetry: false,
      limits: LIMITS,
    });
    this.#runtime = runtime;
    runtime.register('sink', sinkMachine, {
      perform: { note: ({ params }) => this.#tally.note(params, Date.now()) },
    });
    return runtime;
  }

  async #start(cycle: number): Promise<VictimProcess> {
    const victim = new VictimProcess({
      directory: this.#directory,
      node: `${VICTIM}-${cycle + 1}`,
      transport: this.#transport,
      plant: this.#options.plant,
    });
    this.#victim = victim;
    this.#fences.push(await victim.hosts);
    return victim;
  }

  /** Lets the victim work for a while and kills it. */
  async #killWithin(victim: VictimProcess, share: number): Promise<void> {
    const { killMinMs = 20, killMaxMs = 1_500 } = this.#options;
    await this.#firstAckOf(victim);
    const answeredAt = performance.now();
    await Promise.race([pause(killMinMs + share * (killMaxMs - killMinMs)), victim.over]);
    this.#killedAtMs.push(performance.now() - answeredAt);
    victim.kill();
    const ending = await victim.over;
    if (ending !== 'SIGKILL') throw victim.unwanted(ending);
  }

  async #firstAckOf(victim: VictimProcess): Promise<void> {
    const acked = new Promise<void>((resolve) => {
      this.#firstAck = resolve;
    });
    const ending = await Promise.race([acked, victim.over]);
    if (ending !== undefined) throw victim.unwanted(ending);
    this.#firstAck = undefined;
    this.#recoveriesMs.push(performance.now() - victim.startedAt);
  }

  async #complete(ticking: readonly string[], since: number): Promise<void> {
    const isDone = () => this.#tally.isComplete() && this.#tally.hasTickedSince(ticking, since);
    while (!isDone()) await pause(LOOK_MS);
  }

  /** Resolves when nothing new has come for a while. */
  async #quiet(): Promise<void> {
    let seen = -1;
    let since = performance.now();
    while (performance.now() - since < QUIET_MS) {
      const now = this.#tally.notes + this.#tally.acked;
      if (now !== seen) since = performance.now();
      seen = now;
      await pause(LOOK_MS, undefined, { ref: false });
    }
  }

  async #report(run: {
    readonly acksPerCycle: number;
    readonly load: Load;
    readonly ticking: { readonly counters: readonly string[]; readonly since: number };
    readonly seconds: number;
  }): Promise<RigReport> {
    const { cycles, seed, isKept } = this.#options;
    const { strictOpen, contexts } = await readDirectory(this.#directory);
    const addresses = this.#counters.map(({ address }) => address);
    const findings = this.#tally.judge(addresses, run.ticking, (counter) => contexts.get(counter));
    const fences = this.#fences;
    const fencesRose = fences.every(
      (fence, index) => index === 0 || fence > (fences[index - 1] ?? 0),
    );
    const wrong =
      findings.ackedLost + findings.duplicated + findings.timersLost + findings.timersEarly;
    const { refused, sent } = run.load;
    return {
      cycles,
      seed,
      acksPerCycle: run.acksPerCycle,
      ...findings,
      sent,
      acked: this.#tally.acked,
      refused,
      ticks: this.#tally.ticks,
      recoveryMs: {
        p50: quantile(this.#recoveriesMs, 0.5),
        p99: quantile(this.#recoveriesMs, 0.99),
      },
      killedAtMs: {
        min: quantile(this.#killedAtMs, 0),
        p50: quantile(this.#killedAtMs, 0.5),
        max: quantile(this.#killedAtMs, 1),
      },
      fencesRose,
      strictOpen,
      seconds: Math.round(run.seconds * 10) / 10,
      ...(isKept === true ? { directory: this.#directory } : {}),
      hasHeld: wrong === 0 && fencesRose && strictOpen === 'sound' && refused.length === 0,
    };
  }
}

async function readDirectory(directory: string): Promise<{
  readonly strictOpen: string;
  readonly contexts: ReadonlyMap<string, CounterContext>;
}> {
  const contexts = new Map<string, CounterContext>();
  const store = lmdbStore(directory, { isStrict: true });
  try {
    await store.open(VICTIM);
    for (const [address, { kind }] of store.entries()) {
      if (kind !== 'counter') continue;
      const { snapshot } = JSON.parse(store.load(address) as string);
      contexts.set(address, snapshot.context);
    }
    await store.close();
    return { strictOpen: 'sound', contexts };
  } catch (thrown) {
    return { strictOpen: String(thrown), contexts };
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round(sorted[Math.ceil(share * (sorted.length - 1))] ?? 0);
}
