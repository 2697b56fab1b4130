/**
 * Host of agent runs: a runtime on a directory, with the kinds of a run and all that carries out what they ask for.
 *
 * One process owns the directory at a time. Opening it wakes what a process before has left: its attempts are
 * ended and cleaned away, and its runs wait until somebody asks for them.
 */

import { env } from 'node:process';
import {
  agentAddress,
  delegationAddress,
  orchestrationAddress,
} from '../../machines/agents/addresses.ts';
import { agentMachine } from '../../machines/agents/agent.ts';
import { delegationMachine } from '../../machines/agents/delegation.ts';
import type { NoteParams } from '../../machines/agents/notes.ts';
import { orchestrationMachine } from '../../machines/agents/orchestration.ts';
import type { ProcessParams } from '../../machines/agents/process-end.ts';
import { taskMachine } from '../../machines/agents/task.ts';
import { messageOf, RuntimeError } from '../../runtime/base/errors.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { ProcessGroups } from '../processes.ts';
import { type HostParts, openHost } from '../runs.ts';
import { agentAssignment, dependenciesOf, expertAssignment } from './assignment.ts';
import { Attempts } from './attempts.ts';
import { Compaction } from './compaction.ts';
import { type RunDocument, runDocument } from './documents.ts';
import { EventLog } from './event-log.ts';
import { type Mark, markOf } from './marks.ts';
import { Metrics } from './metrics.ts';
import type { Plan } from './plan.ts';
import { RunFolder } from './run-folder.ts';
import { planOf } from './stored-plan.ts';
import { folderOf, PLACE, type StoredRun, StoredRuns } from './stored-runs.ts';
import type { ToAgent } from './worker.ts';
import type { Driver } from './workers/driver-worker.ts';

export interface HostOptions {
  /** Directory of the data; made where there is none. */
  readonly data: string;
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
  /** What runs attempts of these agents and experts instead of a program. */
  readonly drivers?: Readonly<Record<string, Driver>> | undefined;
}

type Kinds = {
  orchestration: typeof orchestrationMachine;
  task: typeof taskMachine;
  agent: typeof agentMachine;
  delegation: typeof delegationMachine;
};

type CompactParams = { readonly runId: string; readonly number: number };

const LIMITS = { sendersMax: 1_000_000 } as const;
/** Any process that has it is a node of a cluster. */
const NEVER_PASSED = new Set(['ESCAPEMENT_SECRET']);

export class Host {
  readonly data: string;
  readonly runtime: Runtime<Kinds>;
  readonly stored: StoredRuns;
  readonly metrics = new Metrics();
  readonly clock: Clock;
  readonly logger: Logger;
  readonly attempts: Attempts;
  readonly #plans = new Map<string, Plan>();
  readonly #logs = new Map<string, EventLog>();
  /** Hooks at work, by their marks. */
  readonly #compactions = new Map<string, Compaction>();
  readonly #inherited = inheritedVariables();

  private constructor(
    { data, clock, logger, store, runtime }: HostParts,
    drivers: Readonly<Record<string, Driver>>,
  ) {
    this.data = data;
    this.clock = clock;
    this.logger = logger;
    this.runtime = runtime as unknown as Runtime<Kinds>;
    this.stored = new StoredRuns(store);
    this.attempts = new Attempts({
      clock,
      logger,
      data,
      drivers,
      inherited: this.#inherited,
      plan: (runId) => this.plan(runId),
      folder: (runId) => this.folder(runId),
      assignment: (params) => this.#assignment(params),
      tell: (address, event) => runtime.actor(address).send(event as never),
      late: (params, event) => this.#late(params, event),
    });
  }

  /** @throws {RuntimeError} STORE_LOCKED and what else opening a store throws */
  static open({ data, drivers = {}, ...ports }: HostOptions): Promise<Host> {
    const options = { ...ports, directory: folderOf(data), place: PLACE, limits: LIMITS };
    return openHost<Host>(options, (parts, here) => {
      const host = new Host(parts, drivers);
      host.#register(parts.runtime, here);
      return host;
    });
  }

  #register(runtime: Runtime, here: () => Host): void {
    const note = ({ params }: { params: NoteParams }) => here().#note(params);
    const compact = ({ params }: { params: CompactParams }) => here().#compact(params);
    const stopCompaction = ({ params }: { params: CompactParams }) =>
      here().#stopCompaction(params);
    const ties = 'timers' as const;
    const once = { ties, livesOnce: true, perform: { note, ...this.attempts.performers } } as const;
    runtime
      .register('orchestration', orchestrationMachine, {
        ties,
        perform: { note, compact, stopCompaction },
      })
      .register('task', taskMachine, { ties, perform: { note } })
      .register('agent', agentMachine, once)
      .register('delegation', delegationMachine, once);
  }

  folder(runId: string): RunFolder {
    return new RunFolder(this.data, runId);
  }

  /** The plan of a run, as its folder has it. */
  plan(runId: string): Plan {
    const known = this.#plans.get(runId);
    if (known !== undefined) return known;
    const plan = planOf(this.folder(runId));
    this.#plans.set(runId, plan);
    return plan;
  }

  /** Takes a plan that was read before, with what its caller has set. */
  keepPlan(runId: string, plan: Plan): void {
    this.#plans.set(runId, plan);
  }

  log(runId: string): EventLog {
    const known = this.#logs.get(runId);
    if (known !== undefined) return known;
    const folder = this.folder(runId);
    folder.make();
    const log = new EventLog(folder.eventsPath, this.logger);
    this.#logs.set(runId, log);
    return log;
  }

  run(runId: string): StoredRun {
    const run = this.stored.run(runId);
    if (run === undefined) throw unknownRun(runId);
    return run;
  }

  document(runId: string): RunDocument {
    return runDocument(this.stored, this.run(runId));
  }

  /** Calls `look` for every change of a run, until what it gives is called. */
  watch(runId: string, look: () => void): () => void {
    const watch = this.runtime
      .actor(orchestrationAddress(runId))
      .subscribe({ next: look, complete: look, error: look });
    return () => watch.unsubscribe();
  }

  async close(): Promise<void> {
    await this.runtime.stop();
    for (const compaction of this.#compactions.values()) await compaction.stop();
  }

  #note(note: NoteParams): void {
    this.metrics.take(note);
    this.log(note.run_id).take(note);
  }

  #late({ runId, taskId, attemptId }: ProcessParams, { type }: { readonly type: string }): void {
    if (type !== 'result.reported' && type !== 'failure.reported') return;
    const result = type === 'result.reported' ? 'done' : 'failed';
    this.#note({
      event: 'late_result_discarded',
      at: this.clock.now(),
      run_id: runId,
      agent_id: attemptId,
      task_id: taskId,
      result,
    });
  }

  #assignment({ runId, taskId, attemptId, role }: ProcessParams): ToAgent {
    const at = this.clock.now();
    if (role === 'expert') {
      const address = delegationAddress(runId, attemptId);
      return expertAssignment(this.runtime.actor(address).getSnapshot().context, at);
    }
    const { context } = this.runtime.actor(agentAddress(runId, attemptId)).getSnapshot();
    const task = this.stored.task(runId, taskId)?.context;
    if (task === undefined) throw unknownRun(runId);
    const run = this.run(runId).context;
    const waits = run.tasks.get(taskId)?.dependsOn ?? [];
    const resultOf = (id: string): unknown => this.stored.task(runId, id)?.context.result ?? null;
    return agentAssignment(context, task, [...dependenciesOf(run, waits, resultOf)], at);
  }

  async #compact({ runId, number }: CompactParams): Promise<void> {
    const run = this.runtime.actor(orchestrationAddress(runId));
    let failure: string | null = null;
    try {
      const { compactCommand: argv, directory: cwd } = this.plan(runId);
      if (argv !== null) {
        const mark = this.#hookMark({ runId, number });
        const hook = new Compaction(
          { argv, cwd, env: this.#inherited, mark },
          { runId, checkpoints: this.#checkpoints(runId) },
          this.clock,
        );
        this.#compactions.set(mark.value, hook);
        for (const [kind, remainingPercent] of Object.entries(await hook.finished()))
          if (remainingPercent !== null) await run.send(usageOf(kind, remainingPercent));
      }
    } catch (thrown) {
      failure = messageOf(thrown);
    }
    await run.send({ type: 'compaction.finished', number, failure }).catch(() => {});
  }

  /** Ends all that a hook has started, also one of a runtime before this one. */
  async #stopCompaction(params: CompactParams): Promise<void> {
    const mark = this.#hookMark(params);
    const hook = this.#compactions.get(mark.value);
    this.#compactions.delete(mark.value);
    try {
      if (hook === undefined) await new ProcessGroups(this.clock).killMarked(mark);
      else await hook.stop();
    } catch (thrown) {
      this.logger.warn({ ...params, error: messageOf(thrown) }, 'a hook could not be ended');
    }
  }

  #hookMark({ runId, number }: CompactParams): Mark {
    return markOf(this.data, runId, `compaction-${number}`);
  }

  /** The last checkpoint of every attempt that lives, and that has told one. */
  #checkpoints(runId: string) {
    return [...this.run(runId).context.live].flatMap(([attemptId, { taskId }]) => {
      const checkpoint = this.stored.agent(runId, attemptId)?.context.lastCheckpoint;
      return checkpoint ? [{ taskId, attemptId, ...checkpoint }] : [];
    });
  }
}

export const usageOf = (kind: string, remainingPercent: number) => ({
  type: 'usage.reported' as const,
  kind: kind as 'context' | 'session',
  remainingPercent,
  amounts: {},
});

export function unknownRun(runId: string): RuntimeError {
  return new RuntimeError('INPUT_INVALID', `There is no run "${runId}".`);
}

function inheritedVariables(): Readonly<Record<string, string>> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !NEVER_PASSED.has(name)) variables[name] = value;
  return variables;
}
