/**
 * A run in a pretend world: the machines on the real engine in virtual time, with commands drawn from a seed and a
 * runner that crashes. What happens is written down by the world, and judged by that alone.
 */

import { runAddress } from '../../../machines/mapreduce/addresses.ts';
import type { MapAgentContext } from '../../../machines/mapreduce/map-agent/context.ts';
import { type TestRuntime, testRuntime } from '../../../simulator/testing.ts';
import { SeededRandom } from '../../../simulator/world/random.ts';
import {
  type Judged,
  judge,
  type LogLine,
  lineOf,
  type Params,
  type Process,
} from './pretend-judge.ts';
import { type Machines, PARTS, type Parts } from './pretend-parts.ts';
import { type Drawn, drawRules, runRulesOf } from './pretend-rules.ts';

export interface Outcome {
  readonly breaches: readonly string[];
  /** What happened to processes, for comparing two plays. */
  readonly timeline: readonly string[];
}

const RUN = 'r1';
const SECOND = 1_000;
const SHORT_MS = 3_000;

/** Plays a seed to the end of its run. `throws`: monitoring throws at each event. */
export async function playSeed(
  seed: number,
  parts: Partial<Parts> = {},
  throws = false,
): Promise<Outcome> {
  const world = new World(seed, { ...PARTS, ...parts }, throws);
  return world.play();
}

class World {
  readonly #random: SeededRandom;
  readonly #parts: Parts;
  readonly #throws: boolean;
  readonly #processes: Process[] = [];
  readonly #kept: number[] = [];
  readonly #log: LogLine[] = [];
  /** Number of crashes, and what it was at the time of a process's start. */
  #crashes = 0;
  readonly #isCalm: boolean;
  #hasResumed = false;
  readonly #waits = new Map<string, string>();
  readonly #crashesAtStart = new Map<Process, number>();
  #rt!: TestRuntime<Machines>;
  readonly #drawn: Drawn;

  constructor(seed: number, parts: Parts, throws: boolean) {
    this.#random = new SeededRandom(seed, 'mapreduce');
    this.#parts = parts;
    this.#throws = throws;
    this.#drawn = drawRules(this.#random);
    // Every other world is calm, so that times can be judged exactly.
    this.#isCalm = this.#random.next() < 0.5;
  }

  async play(): Promise<Outcome> {
    const { note, ...performers } = this.#performers();
    const ties = 'timers' as const;
    this.#rt = await testRuntime<Machines>({
      kinds: this.#parts.machines,
      options: {
        mapreduce: { ties, perform: { note, keepFailure: performers.keepFailure } },
        'map-agent': { ties, perform: { note, ...performers } },
      } as never,
    });
    const rules = runRulesOf(this.#drawn, this.#parts.limits);
    await this.#rt.spawn(runAddress(RUN), { input: { runId: RUN, rules, about: {} } } as never);
    for (let step = 0; step < 600; step++) {
      await this.#rt.advance(Math.floor(this.#random.next() * 400));
      if (this.#state() === 'completed') break;
      if (this.#state() === 'failed' && !(await this.#resumeOnce())) break;
      if (this.#isCalm) continue;
      if (this.#random.next() < 0.04) await this.#crash();
      else if (this.#random.next() < 0.01) await this.#interrupt();
    }
    await this.#rt.advance(400 * SECOND);
    const breaches = judge(this.#judged());
    await this.#rt.stop();
    return { breaches, timeline: this.#processes.map(lineOf) };
  }

  #judged(): Judged {
    const { value, context } = this.#rt.actor(runAddress(RUN)).getSnapshot();
    const outcomes = [...context.items].map(([key, { state }]) => [Number(key), state] as const);
    const { counts, agentsStarted, timeouts } = context;
    const agent = (agentId: string) => this.#agent(agentId);
    return {
      processes: this.#processes,
      kept: this.#kept,
      log: this.#log,
      drawn: this.#drawn,
      isCalm: this.#isCalm && !this.#hasResumed,
      claims: { state: value, outcomes: new Map(outcomes), counts, agentsStarted, timeouts, agent },
    };
  }

  #state(): unknown {
    return this.#rt.actor(runAddress(RUN)).getSnapshot().value;
  }

  /** A run that has failed is continued, one time. */
  async #resumeOnce(): Promise<boolean> {
    if (this.#hasResumed) return false;
    this.#hasResumed = true;
    await this.#rt.actor(runAddress(RUN)).send({ type: 'run.resume' });
    return true;
  }

  async #crash(): Promise<void> {
    this.#crashes += 1;
    await this.#rt.crash();
    // It may have ended meanwhile.
    await this.#rt
      .actor(runAddress(RUN))
      .send({ type: 'run.resume' })
      .catch(() => {});
  }

  async #interrupt(): Promise<void> {
    const run = this.#rt.actor(runAddress(RUN));
    await run.send({ type: 'run.interrupt' }).catch(() => {});
    await this.#rt.advance(Math.floor(this.#random.next() * 3 * SECOND));
    await run.send({ type: 'run.resume' }).catch(() => {});
  }

  #performers() {
    const later = (ms: number, task: () => void) =>
      this.#rt.clock.schedule(this.#rt.now() + ms, task);
    const tell = (params: Params, event: object): void =>
      void this.#rt
        .actor(`map-agent/${params.runId}/${params.agentId}`)
        .send(event as never)
        .catch(() => {});
    const aliveOf = ({ agentId }: Params) =>
      this.#processes.filter((each) => each.params.agentId === agentId && each.endedAt === null);
    const end = (process: Process, exitCode: number | null, tells: boolean): void => {
      if (process.endedAt !== null) return;
      process.endedAt = this.#rt.now();
      process.exitCode = exitCode;
      const { params, index } = process;
      // Only the runner that started it hears of its exit.
      if (!tells || this.#crashesAtStart.get(process) !== this.#crashes) return;
      tell(params, {
        type: 'command.ended',
        index,
        exitCode: exitCode ?? 143,
        signal: null,
        isClean: this.#random.next() < 0.5,
        isQuota: false,
      });
    };
    const signal = (params: Params, name: string): void => {
      for (const process of aliveOf(params)) {
        process.signals.push({ signal: name, at: this.#rt.now() });
        if (name === 'SIGKILL') {
          process.isKilled = true;
          end(process, null, false);
        } else if (process.heedsMs < Number.POSITIVE_INFINITY)
          later(process.heedsMs, () => end(process, null, false));
      }
    };
    const whenEmpty = (params: Params, killed: boolean): void => {
      // A later wait takes the place of one before it; a runner that crashed waits no more.
      const wait = `${this.#crashes} ${killed}`;
      this.#waits.set(params.agentId, wait);
      const look = (): void => {
        if (this.#waits.get(params.agentId) !== wait || !wait.startsWith(`${this.#crashes} `))
          return;
        if (aliveOf(params).length === 0) tell(params, { type: 'group.emptied', killed });
        else later(20, look);
      };
      later(5, look);
    };
    return {
      note: ({ params }: { params: LogLine }) => {
        this.#log.push(params);
        if (this.#throws) throw new Error('monitoring is out of order');
      },
      keepFailure: {
        durable: true,
        attemptsMax: Number.POSITIVE_INFINITY,
        run: async ({
          params,
          send,
        }: {
          params: { itemIndex: number };
          send: (event: object) => Promise<void>;
        }) => {
          if (!this.#kept.includes(params.itemIndex)) this.#kept.push(params.itemIndex);
          await send({ type: 'failure.kept', itemIndex: params.itemIndex });
        },
      },
      prepare: () => {},
      startCommand: ({ params }: { params: Params & { readonly index: number } }) => {
        const heedsMs =
          this.#random.next() < 0.3
            ? Number.POSITIVE_INFINITY
            : Math.floor(this.#random.next() * 600);
        const process: Process = {
          params,
          index: params.index,
          startedAt: this.#rt.now(),
          heedsMs,
          endedAt: null,
          exitCode: null,
          isKilled: false,
          signals: [],
          ...this.#commandLine(params),
        };
        this.#processes.push(process);
        this.#crashesAtStart.set(process, this.#crashes);
        tell(params, {
          type: 'command.spawned',
          index: params.index,
          group: this.#processes.length,
          startTicks: null,
        });
        const isHung = this.#random.next() < 0.15 && params.role === 'map';
        const takesMs = Math.floor(this.#random.next() * 1_500);
        const exitCode = this.#random.next() < 0.1 ? 1 : this.#random.next() < 0.05 ? 9 : 0;
        // One that never ends needs a limit to be ended by, soon.
        const limit = Math.min(
          this.#drawn.agentLimit,
          this.#drawn.stepLimits[params.index] ?? Number.POSITIVE_INFINITY,
        );
        if (!isHung || limit > SHORT_MS)
          later(takesMs, () => end(process, params.role === 'map' ? exitCode : 0, true));
      },
      signalGroup: ({ params }: { params: Params & { readonly signal: string } }) => {
        if (this.#throws && this.#parts.sinkHinders) throw new Error('monitoring is out of order');
        signal(params, params.signal);
        whenEmpty(params, false);
      },
      killGroup: ({ params }: { params: Params }) => {
        const hadAny = aliveOf(params).length > 0;
        signal(params, 'SIGKILL');
        whenEmpty(params, hadAny);
      },
      cleanUp: ({ params }: { params: Params }) => {
        signal(params, 'SIGKILL');
        later(Math.floor(this.#random.next() * 50), () =>
          tell(params, { type: 'cleanup.finished', failure: null, worktree: null }),
        );
      },
    };
  }

  /** Command line of a step, of an item with a value that a shell must not read. */
  #commandLine({ role, itemIndex, index }: Params & { readonly index: number }) {
    const value = `'; touch pwned-${itemIndex}; $(x) "`;
    const { workflow } = this.#drawn;
    const step = (role === 'map' ? workflow.map.template : workflow[role])?.[index];
    if (step === undefined) throw new RangeError(`There is no step ${index}.`);
    const { argv } = this.#parts.commandLine(
      step,
      role,
      { item: value, results: value },
      ['claude'],
      {},
      {},
    );
    return { argv, value };
  }

  #agent(agentId: string): MapAgentContext | undefined {
    try {
      return this.#rt.actor(`map-agent/${RUN}/${agentId}`).getSnapshot().context;
    } catch {
      return undefined;
    }
  }
}
