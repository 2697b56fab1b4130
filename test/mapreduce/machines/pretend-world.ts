/**
 * A run in a pretend world: the machines on the real engine in virtual time, with commands drawn from a seed and a
 * runner that crashes. What happens is written down by the world, and judged by that alone.
 */

import { runAddress } from '../../../machines/mapreduce/addresses.ts';
import { mapAgentMachine } from '../../../machines/mapreduce/map-agent.ts';
import type { RunContext } from '../../../machines/mapreduce/run/context.ts';
import { type RunRules, runMachine } from '../../../machines/mapreduce/run.ts';
import { type TestRuntime, testRuntime } from '../../../simulator/testing.ts';
import { SeededRandom } from '../../../simulator/world/random.ts';
import { judge, type Params, type Process } from './pretend-judge.ts';

export type Machines = {
  readonly mapreduce: typeof runMachine;
  readonly 'map-agent': typeof mapAgentMachine;
};

export const MACHINES: Machines = { mapreduce: runMachine, 'map-agent': mapAgentMachine };

export interface Outcome {
  readonly breaches: readonly string[];
  readonly context: RunContext;
  readonly state: unknown;
}

const RUN = 'r1';
const SECOND = 1_000;

/** Plays a seed to the end of its run. */
export async function playSeed(seed: number, machines: Machines = MACHINES): Promise<Outcome> {
  const world = new World(seed, machines);
  return world.play();
}

class World {
  readonly #random: SeededRandom;
  readonly #machines: Machines;
  readonly #processes: Process[] = [];
  readonly #kept: number[] = [];
  /** Moments at which the runner crashed, and their number at the time of a process's start. */
  #crashes = 0;
  #isCalm = false;
  readonly #crashesAtStart = new Map<Process, number>();
  #rt!: TestRuntime<Machines>;
  readonly #rules: RunRules;

  constructor(seed: number, machines: Machines) {
    this.#random = new SeededRandom(seed, 'mapreduce');
    this.#machines = machines;
    this.#rules = this.#drawRules();
  }

  async play(): Promise<Outcome> {
    const { note, ...performers } = this.#performers();
    const ties = 'timers' as const;
    this.#rt = await testRuntime<Machines>({
      kinds: this.#machines,
      options: {
        mapreduce: { ties, perform: { note, keepFailure: performers.keepFailure } },
        'map-agent': { ties, perform: { note, ...performers } },
      } as never,
    });
    const about = {};
    const input = { runId: RUN, rules: this.#rules, about };
    await this.#rt.spawn(runAddress(RUN), { input } as never);
    // Every other world is calm, so that times can be judged exactly.
    const isCalm = this.#random.next() < 0.5;
    this.#isCalm = isCalm;
    for (let step = 0; step < 400 && !this.#isOver(); step++) {
      await this.#rt.advance(Math.floor(this.#random.next() * 400));
      if (isCalm) continue;
      if (this.#random.next() < 0.04) await this.#crash();
      else if (this.#random.next() < 0.01) await this.#interrupt();
    }
    await this.#rt.advance(200 * SECOND);
    const { value, context } = this.#rt.actor(runAddress(RUN)).getSnapshot();
    const breaches = judge({
      processes: this.#processes,
      kept: this.#kept,
      rules: this.#rules,
      isCalm: this.#isCalm,
      context,
      state: value,
      timeoutOf: (agentId) => this.#timeoutOf(agentId),
    });
    await this.#rt.stop();
    return { breaches, context, state: value };
  }

  #isOver(): boolean {
    const { value } = this.#rt.actor(runAddress(RUN)).getSnapshot();
    return value === 'completed' || value === 'failed';
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

  #drawRules(): RunRules {
    const limit = (chance: number): number | null =>
      this.#random.next() < chance ? 500 + Math.floor(this.#random.next() * 2_000) : null;
    const pick = <T>(...each: readonly T[]): T =>
      each[Math.floor(this.#random.next() * each.length)] as T;
    const graceMs = pick(0, 300, 1_000);
    const agent = {
      steps: Array.from({ length: pick(1, 2, 3) }, () => ({
        type: 'shell' as const,
        limitMs: limit(0.4),
        idleLimitMs: null,
      })),
      policy: 'hybrid' as const,
      agentLimitMs: limit(0.8),
      termination: graceMs === 0 ? [] : [{ signal: 'SIGTERM', waitMs: graceMs }],
      enforce: true,
      runsUntimed: true,
      hasWorktree: false,
      budget: {},
      quotaExitCodes: [9],
    };
    const side = {
      ...agent,
      agentLimitMs: null,
      steps: [{ type: 'shell' as const, limitMs: null, idleLimitMs: null }],
    };
    return {
      workflow: 'w',
      itemCount: pick(1, 3, 8),
      maxParallel: pick(1, 2, 4),
      map: agent,
      setup: pick(null, side),
      reduce: pick(null, side),
      retry: {
        maxAttempts: pick(1, 2, 3),
        retryOn: ['timeout', 'command_failed'],
        backoff: pick('immediate', 'exponential'),
        initialDelayMs: 200,
        maxDelayMs: 1_000,
      },
      timeoutAction: pick('dlq', 'dlq', 'skip', 'fail'),
      onItemFailure: pick('dlq', 'skip'),
      alertPercent: null,
      quotaResumeAfterMs: 700,
      budget: {},
      halt: null,
      resolvesFailedItems: false,
    };
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
        if (name === 'SIGKILL') end(process, null, false);
        else if (process.heedsMs < Number.POSITIVE_INFINITY)
          later(process.heedsMs, () => end(process, null, false));
      }
    };
    const whenEmpty = (params: Params, killed: boolean): void => {
      const crashes = this.#crashes;
      const look = (): void => {
        if (crashes !== this.#crashes) return;
        if (aliveOf(params).length === 0) tell(params, { type: 'group.emptied', killed });
        else later(20, look);
      };
      later(5, look);
    };
    return {
      note: () => {},
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
          signals: [],
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
        // One that never ends needs a limit to be ended by.
        const hasLimit = this.#rules.map.agentLimitMs !== null;
        if (!isHung || !hasLimit)
          later(takesMs, () => end(process, params.role === 'map' ? exitCode : 0, true));
      },
      signalGroup: ({ params }: { params: Params & { readonly signal: string } }) => {
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

  #timeoutOf(agentId: string) {
    try {
      const { context } = this.#rt.actor(`map-agent/${RUN}/${agentId}`).getSnapshot();
      const { timeout, endedAt } = context;
      return timeout === null ? undefined : { ...timeout, endedAt };
    } catch {
      return undefined;
    }
  }
}
