/**
 * A run whose processes are what a test says: the machines on the real engine in virtual time, with nobody behind them.
 */

import type { NoteParams } from '../../../machines/agents/notes.ts';
import type { RunRules } from '../../../machines/agents/orchestration.ts';
import type { ProcessParams } from '../../../machines/agents/process-end.ts';
import { type TestRuntime, testRuntime } from '../../../simulator/testing.ts';
import { MACHINES, type Machines } from './pretend-world.ts';

export const RULES: RunRules = {
  slots: 2,
  task: {
    attempt: {
      agentLimitMs: 10_000,
      checkpointIntervalMs: 5_000,
      checkpointTimeoutMs: 1_000,
      stallThreshold: 3,
      retryOnMiss: false,
      delegationLimitMs: 5_000,
      delegationsMax: 3,
      experts: ['sql'],
      graceMs: 100,
      malformedLinesMax: 20,
      idleLimitMs: null,
      budget: {},
    },
    timeoutEscalation: 1,
    stallsCount: true,
    failuresMax: 3,
  },
  silentAgents: [],
  experts: { sql: 1 },
  contextThreshold: 10,
  sessionThreshold: 10,
  compactionTimeoutMs: 300,
  hasCompactCommand: true,
  blockAllOnQuestion: false,
  quotaPauseMinMs: 1,
  budget: {},
};

export class DrivenRun {
  readonly started: string[] = [];
  readonly notes: NoteParams[] = [];
  readonly hooks: string[] = [];
  readonly rules: RunRules;
  readonly tasks: readonly string[];
  rt!: TestRuntime<Machines>;

  constructor(rules: RunRules, tasks: readonly string[]) {
    this.rules = rules;
    this.tasks = tasks;
  }

  async open(): Promise<this> {
    const telling =
      (type: string) =>
      ({ address }: { readonly address: string }) =>
        void this.rt.actor(address as never).send({ type } as never);
    const emptied = telling('group.emptied');
    const perform = {
      note: ({ params }: { readonly params: NoteParams }) => void this.notes.push(params),
      startProcess: ({ params }: { readonly params: ProcessParams }) =>
        void this.started.push(params.attemptId),
      sendLine: () => {},
      closeInput: () => {},
      stopProcess: emptied,
      killProcess: emptied,
      cleanUp: telling('cleanup.finished'),
      compact: () => void this.hooks.push('begun'),
      stopCompaction: () => void this.hooks.push('ended'),
    };
    const kind = { ties: 'timers' as const, perform };
    this.rt = await testRuntime<Machines>({
      kinds: MACHINES,
      options: { orchestration: kind, task: kind, agent: kind, delegation: kind } as never,
    });
    await this.rt.spawn('orchestration/r', { input: { runId: 'r', about: {} } } as never);
    await this.begin();
    return this;
  }

  async begin(exitWhenBlocked = false): Promise<void> {
    const tasks = this.tasks.map((taskId) => ({
      taskId,
      priority: 0,
      dependsOn: [],
      plan: { prompt: 'p', agent: 'coder', limitMs: null, budget: {} },
    }));
    await this.run({ type: 'run.begun', rules: this.rules, tasks, exitWhenBlocked, about: {} });
  }

  /** To an actor, with what follows from it. */
  async tell(address: string, event: object): Promise<void> {
    await this.rt.actor(address as never).send(event as never);
    await this.rt.advance(1);
  }

  run(event: object): Promise<void> {
    return this.tell('orchestration/r', event);
  }

  agent(attempt: string, event: object): Promise<void> {
    return this.tell(`agent/r/${attempt}`, event);
  }

  async work(...attempts: readonly string[]): Promise<void> {
    for (const each of attempts)
      await this.agent(each, { type: 'process.started', group: 1, startTicks: null });
  }

  get state(): unknown {
    return this.rt.actor('orchestration/r').getSnapshot().value;
  }

  eventsOf(event: string): readonly NoteParams[] {
    return this.notes.filter((each) => each.event === event);
  }
}
