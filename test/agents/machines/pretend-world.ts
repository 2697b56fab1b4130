/**
 * A plan in a pretend world: the machines on the real engine in virtual time, with agents, experts and a human
 * drawn from a seed, and a runtime that crashes. What happens is written down by the world, and judged by that.
 */

import { agentAddress, delegationAddress } from '../../../machines/agents/addresses.ts';
import { agentMachine } from '../../../machines/agents/agent.ts';
import { delegationMachine } from '../../../machines/agents/delegation.ts';
import type { NoteParams } from '../../../machines/agents/notes.ts';
import {
  orchestrationMachine,
  type PlannedTask,
  type RunRules,
} from '../../../machines/agents/orchestration.ts';
import type { ProcessParams } from '../../../machines/agents/process-end.ts';
import { type TaskContext, taskMachine } from '../../../machines/agents/task.ts';
import { ESCALATION_KEYS } from '../../../machines/agents/words.ts';
import { type TestRuntime, testRuntime } from '../../../simulator/testing.ts';
import { SeededRandom } from '../../../simulator/world/random.ts';
import { judge, judgeQuestions } from './pretend-judge.ts';
import { drawRules, drawTasks } from './pretend-plan.ts';
import { type Line, PretendProcess } from './pretend-process.ts';

export const MACHINES = {
  orchestration: orchestrationMachine,
  task: taskMachine,
  agent: agentMachine,
  delegation: delegationMachine,
};

export type Machines = typeof MACHINES;

export interface Outcome {
  readonly breaches: readonly string[];
  readonly state: unknown;
  readonly notes: readonly NoteParams[];
}

const RUN = 'r';
const ORCHESTRATION = 'orchestration/r';
const STEPS_MAX = 600;

type Started = ProcessParams & { readonly attempt: number };

/** Plays a seed to the end of its run. */
export async function playSeed(seed: number, machines: Machines = MACHINES): Promise<Outcome> {
  return new World(seed, machines).play();
}

class World {
  readonly #random: SeededRandom;
  readonly #machines: Machines;
  readonly #processes: PretendProcess[] = [];
  readonly #notes: NoteParams[] = [];
  readonly #breaches = new Set<string>();
  readonly #rules: RunRules;
  readonly #tasks: readonly PlannedTask[];
  #crashes = 0;
  #rt!: TestRuntime<Machines>;

  constructor(seed: number, machines: Machines) {
    this.#random = new SeededRandom(seed, 'agents');
    this.#machines = machines;
    this.#rules = drawRules(this.#random);
    this.#tasks = drawTasks(this.#random);
  }

  async play(): Promise<Outcome> {
    const note = ({ params }: { params: NoteParams }): void => void this.#notes.push(params);
    const perform = { note, ...this.#performers() };
    const kind = { ties: 'timers' as const, perform };
    this.#rt = await testRuntime<Machines>({
      kinds: this.#machines,
      options: { orchestration: kind, task: kind, agent: kind, delegation: kind } as never,
    });
    await this.#rt.spawn(ORCHESTRATION, { input: { runId: RUN, about: {} } } as never);
    await this.#begin();
    const isCalm = this.#random.next() < 0.4;
    for (let step = 0; step < STEPS_MAX && !this.#isOver(); step++) {
      await this.#rt.advance(1 + Math.floor(this.#random.next() * 300));
      const { context } = this.#orchestration();
      for (const breach of judgeQuestions(context)) this.#breaches.add(breach);
      if (this.#random.next() < 0.4) await this.#answer(step > STEPS_MAX / 3);
      if (isCalm || step > STEPS_MAX / 2) await this.#resume();
      else await this.#disturb();
    }
    const { value, context } = this.#orchestration();
    const found = judge({
      processes: this.#processes,
      notes: this.#notes,
      rules: this.#rules,
      planned: this.#tasks,
      context,
      state: value,
      task: (taskId) => this.#task(taskId),
      agents: () => this.#agents(),
    });
    await this.#rt.stop();
    return { breaches: [...this.#breaches, ...found], state: value, notes: this.#notes };
  }

  #orchestration() {
    return this.#rt.actor(ORCHESTRATION).getSnapshot();
  }

  #task(taskId: string): TaskContext {
    return this.#rt.actor(`task/${RUN}/${taskId}`).getSnapshot().context;
  }

  #agents() {
    return [...this.#orchestration().context.tasks].flatMap(([taskId, { attempts }]) =>
      Array.from({ length: attempts }, (_, index) =>
        this.#rt.actor(`agent/${RUN}/${taskId}/${index + 1}`).getSnapshot(),
      ),
    );
  }

  #isOver(): boolean {
    return this.#orchestration().value === 'finished';
  }

  async #send(event: object): Promise<void> {
    await this.#rt
      .actor(ORCHESTRATION)
      .send(event as never)
      .catch(() => {});
  }

  #begin(): Promise<void> {
    const { rules, tasks } = { rules: this.#rules, tasks: this.#tasks };
    return this.#send({ type: 'run.begun', rules, tasks, exitWhenBlocked: false, about: {} });
  }

  async #disturb(): Promise<void> {
    const drawn = this.#random.next();
    if (drawn < 0.03) await this.#crash();
    else if (drawn < 0.05) await this.#send({ type: 'session.pause' });
    else if (drawn < 0.06) await this.#send({ type: 'run.interrupt' });
    else if (drawn < 0.07)
      await this.#send({ type: 'quota.exhausted', attemptId: '', resetsInMs: 500 });
    else if (drawn < 0.08) {
      const remainingPercent = Math.floor(this.#random.next() * 30);
      await this.#send({ type: 'usage.reported', kind: 'session', remainingPercent, amounts: {} });
    } else if (drawn < 0.09) await this.#send({ type: 'run.drain' });
    else if (drawn < 0.3) await this.#resume();
  }

  async #resume(): Promise<void> {
    const { value } = this.#orchestration();
    if (value === 'paused') await this.#send({ type: 'session.resumed' });
    if (value === 'stopped') await this.#begin();
  }

  async #crash(): Promise<void> {
    this.#crashes += 1;
    await this.#rt.crash();
    await this.#rt.advance(Math.floor(this.#random.next() * 50));
    await this.#begin();
  }

  /** The human answers one of the questions, in the end with what leads to an end. */
  async #answer(isTired: boolean): Promise<void> {
    const open = [...this.#orchestration().context.questions.values()].filter(
      ({ state }) => state === 'open',
    );
    const row = open[Math.floor(this.#random.next() * open.length)];
    if (row === undefined) return;
    const drawn = ESCALATION_KEYS[Math.floor(this.#random.next() * 4)] ?? 'skip';
    const key = isTired ? 'skip' : drawn;
    const said = {
      key: row.kind === 'escalation' ? key : null,
      answer: 'so',
      timeoutMs: null,
      parts: key === 'split' && row.kind === 'escalation' ? [{ prompt: 'a' }, { prompt: 'b' }] : [],
    };
    const event = { type: 'question.answered', questionId: row.questionId, said };
    await this.#send(event);
    // An answer that comes twice is applied once.
    if (this.#random.next() < 0.2) await this.#send(event);
  }

  #start(params: Started): void {
    const crashes = this.#crashes;
    const address =
      params.role === 'agent'
        ? agentAddress(RUN, params.attemptId)
        : delegationAddress(RUN, params.attemptId);
    const process = new PretendProcess(
      params,
      {
        now: () => this.#rt.now(),
        later: (ms, task) => this.#later(ms, task),
        tell: (event) => {
          if (crashes !== this.#crashes) return;
          this.#rt
            .actor(address)
            .send(event as never)
            .catch(() => {});
        },
      },
      this.#random,
    );
    this.#processes.push(process);
  }

  #later(ms: number, task: () => void): void {
    this.#rt.clock.schedule(this.#rt.now() + ms, task);
  }

  #performers() {
    const tell = (address: string, event: object): void =>
      void this.#rt
        .actor(address as never)
        .send(event as never)
        .catch(() => {});
    const alive = ({ attemptId }: ProcessParams) =>
      this.#processes.filter((each) => each.params.attemptId === attemptId && each.isAlive);
    const whenEmpty = (address: string, params: ProcessParams): void => {
      const crashes = this.#crashes;
      const look = (): void => {
        if (crashes !== this.#crashes) return;
        if (alive(params).length === 0) tell(address, { type: 'group.emptied' });
        else this.#later(10, look);
      };
      this.#later(1, look);
    };
    type Call<TParams = ProcessParams> = { readonly params: TParams; readonly address: string };
    return {
      startProcess: ({ params, address }: Call<Started>) => {
        const drawn = this.#random.next();
        // One start in two hundred is never heard of again.
        if (drawn < 0.005) return;
        if (drawn < 0.03)
          tell(address, { type: 'process.refused', error: 'ENOENT', retryable: false });
        else this.#start(params);
      },
      sendLine: ({ params }: Call<ProcessParams & { readonly line: Line }>) => {
        for (const each of alive(params)) each.hear(params.line);
      },
      closeInput: () => {},
      stopProcess: ({ params, address }: Call) => {
        for (const each of alive(params)) each.signal('SIGTERM');
        whenEmpty(address, params);
      },
      killProcess: ({ params, address }: Call) => {
        for (const each of alive(params)) each.signal('SIGKILL');
        whenEmpty(address, params);
      },
      cleanUp: ({ params, address }: Call) => {
        for (const each of alive(params)) each.signal('SIGKILL');
        this.#later(1, () => tell(address, { type: 'cleanup.finished' }));
      },
      compact: ({ params: { number } }: { readonly params: { readonly number: number } }) => {
        const takes = Math.floor(this.#random.next() * 500);
        this.#later(takes, () =>
          tell(ORCHESTRATION, { type: 'compaction.finished', number, failure: null }),
        );
      },
      stopCompaction: () => {},
    };
  }
}
