/**
 * Attempts: the processes of agents. It carries out what the machine of an agent asks for, and tells it how that went.
 *
 * Each command has a process group of its own. What an attempt starts carries a mark in its environment, by which
 * it is found again when it left its group, and by a runner that began after a crash. Nothing here decides.
 */

import { agentAddress } from '../../machines/mapreduce/addresses.ts';
import type { MapAgentEvent } from '../../machines/mapreduce/map-agent/context.ts';
import type { AgentParams } from '../../machines/mapreduce/map-agent/setup.ts';
import { messageOf } from '../../runtime/base/errors.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Sent } from '../../runtime/machine.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import {
  Command,
  type CommandEnd,
  IdleNews,
  type Launcher,
  OutputFile,
  ProcessGroups,
} from '../processes.ts';
import { ownVariables, valuesOf } from './attempt-values.ts';
import { commandLineOf, inheritedVariables } from './environment.ts';
import { ItemPlaces } from './item-places.ts';
import { OutputWatch } from './output-watch.ts';
import { ValueError } from './placeholders.ts';
import { type Plan, rulesOf, stepsOf } from './plan.ts';
import { keyOf, type Running, type StartParams } from './running-command.ts';
import { StartQueue } from './start-queue.ts';
import { refusalOf, type TimerPort } from './timer-port.ts';
import { prepareWorktree, removeWorktree, worktreePath } from './worktrees.ts';

export interface AttemptServices {
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Directory of the data, whole: part of the mark. */
  readonly data: string;
  /** Null: there is no enforcer. */
  readonly timers: TimerPort | null;
  readonly launcher: Launcher;
  /** A command that ends sooner is told of once, by its end. After a crash it is found by its mark in either case. */
  readonly spawnedToldAfterMs?: number | undefined;
  plan(runId: string): Plan;
  /** The results of the map as one JSON text. */
  results(runId: string): string;
}

type SignalName = Parameters<ProcessGroups['signal']>[1];
type CleanupResult = { readonly branch: string | null; readonly patch: string | null } | null;

const SPAWNED_TOLD_AFTER_MS = 100;
const MARK = 'ESCAPEMENT_ATTEMPT_MARK';

export class Attempts {
  readonly #services: AttemptServices;
  readonly #groups: ProcessGroups;
  readonly #places = new ItemPlaces();
  readonly #starts: StartQueue;
  readonly #inherited = inheritedVariables();
  /** Commands of attempts that are not cleaned yet, by attempt. */
  readonly #running = new Map<string, Running[]>();

  constructor(services: AttemptServices) {
    this.#services = services;
    this.#groups = new ProcessGroups(services.clock);
    this.#starts = new StartQueue(services.clock, () => services.launcher.isReady);
  }

  readonly performers = {
    prepare: ({ params }: { params: AgentParams }) => this.#prepare(params),
    startCommand: ({ params }: { params: AgentParams & StartParams }) =>
      this.#starts.add(keyOf(params), () => this.#start(params)),
    signalGroup: ({ params }: { params: AgentParams & { signal: string } }) =>
      this.#signal(params, params.signal as SignalName),
    killGroup: ({ params }: { params: AgentParams }) => this.#kill(params),
    cleanUp: ({ params }: { params: AgentParams }) => this.#cleanUp(params),
  } as const;

  /** The command that an attempt is at. */
  active(runId: string, agentId: string): Running | undefined {
    return this.#running.get(keyOf({ runId, agentId }))?.at(-1);
  }

  /** Called when no attempt is at work any more. */
  close(): void {
    this.#services.launcher.close();
    this.#places.close();
  }

  async #prepare(params: AgentParams): Promise<void> {
    try {
      const branch = await prepareWorktree(
        this.#services.plan(params.runId),
        this.#services.data,
        params.agentId,
      );
      this.#tell(params, { type: 'agent.started', branch });
    } catch (thrown) {
      this.#tell(params, { type: 'preparation.failed', message: messageOf(thrown) });
    }
  }

  #start(params: AgentParams & StartParams): void {
    const { index, agentId, isUntimed } = params;
    if (index === 0 && !isUntimed && params.role === 'map') {
      const refusal = refusalOf(this.#services.timers, agentId);
      if (refusal !== undefined) {
        this.#tell(params, { type: 'registration.refused', message: refusal });
        return;
      }
    }
    try {
      this.#run(params);
    } catch (thrown) {
      if (!(thrown instanceof ValueError)) throw thrown;
      this.#tell(params, { type: 'command.refused', index, message: messageOf(thrown) });
    }
  }

  #run(params: AgentParams & StartParams): void {
    const { runId, agentId, role, index } = params;
    const { clock, logger, data } = this.#services;
    const plan = this.#services.plan(runId);
    const step = stepsOf(plan, role)[index];
    if (step === undefined) throw new RangeError(`There is no step ${index}.`);
    const own = ownVariables(plan, params, this.#mark(params), this.#places);
    const values = valuesOf(plan, params, () => this.#services.results(runId));
    const { claude } = plan.about;
    const { argv, env } = commandLineOf(step, role, values, claude, this.#inherited, own);
    const bytesMax = plan.workflow.map.outputBytesMax;
    const failed = (error: Error): void =>
      logger.warn({ agentId, error: error.message }, 'output of a command could not be kept');
    const file = (stream: 'out' | 'err') =>
      new OutputFile(plan.folder.outputPath(agentId, index, stream), bytesMax, failed);
    const idleLimitMs = rulesOf(plan, role)?.steps[index]?.idleLimitMs ?? null;
    const idle = new IdleNews(clock, idleLimitMs, (lastOutputAt) =>
      this.#tell(params, { type: 'output.seen', index, lastOutputAt }),
    );
    const listener = {
      seen: () => {
        running.lastOutputAt = clock.now();
        idle.seen();
      },
      cost: (name: string, amount: number) =>
        this.#tell(params, { type: 'cost.reported', name, amount }),
    };
    const stdout = new OutputWatch(file('out'), listener, plan.quotaMatches);
    const stderr = new OutputWatch(file('err'), listener, plan.quotaMatches);
    const cwd =
      plan.about.git !== null && role === 'map'
        ? worktreePath(data, runId, agentId)
        : plan.about.directory;
    const options = { argv, cwd, env, stdout, stderr };
    const command = new Command(options, clock, this.#services.launcher.launch);
    const running: Running = {
      params,
      index,
      command,
      stdout,
      cancelWait: () => {},
      lastOutputAt: clock.now(),
    };
    const key = keyOf(params);
    this.#running.set(key, [...(this.#running.get(key) ?? []), running]);
    const { spawnedToldAfterMs = SPAWNED_TOLD_AFTER_MS } = this.#services;
    const cancelNews = clock.schedule(clock.now() + spawnedToldAfterMs, () => {
      const { group, startTicks = null } = command;
      if (group !== undefined)
        this.#tell(params, { type: 'command.spawned', index, group, startTicks });
    });
    void command.ended.then((end) => {
      idle.close();
      cancelNews();
      if (end.isLost) {
        this.#lose(running);
        return;
      }
      const isQuota = end.exitCode !== 0 && (stdout.hasMatched || stderr.hasMatched);
      this.#ended(plan, running, end, isQuota);
    });
  }

  #ended(plan: Plan, { params, index }: Running, end: CommandEnd, isQuota: boolean): void {
    const { exitCode, signal, startFailure: error } = end;
    const isLast = index + 1 === stepsOf(plan, params.role).length;
    const isClean =
      isLast && exitCode === 0 && plan.about.git === null && this.#hasNothingLeft(params);
    if (isClean) void this.#forget(params, true);
    this.#tell(params, { type: 'command.ended', index, exitCode, signal, isClean, isQuota });
    if (error !== null)
      this.#services.logger.warn(
        { agentId: params.agentId, index, error },
        'a command could not be started',
      );
  }

  /** Nobody knows how it ends: the attempt begins again, once what may be left of this one is gone. */
  #lose({ params, index, command }: Running): void {
    this.#services.logger.warn(
      { agentId: params.agentId, index, pid: command.group },
      'the process that starts commands is gone; the attempt begins again',
    );
    this.#tell(params, { type: 'agent.cancel', cause: 'interrupted' });
  }

  /** True when no process of the attempt lives, also none that left its group. */
  #hasNothingLeft(params: AgentParams): boolean {
    const groups = (this.#running.get(keyOf(params)) ?? []).flatMap(
      ({ command: { group } }) => group ?? [],
    );
    if (!groups.every((group) => this.#groups.isEmpty(group))) return false;
    const [first] = groups;
    return first === undefined || this.#groups.isMarkGone(this.#mark(params), first);
  }

  async #signal(params: AgentParams, signal: SignalName): Promise<void> {
    this.#starts.drop(keyOf(params));
    const running = this.active(params.runId, params.agentId);
    const group = await running?.command.begun;
    if (running === undefined || group === undefined) {
      this.#tell(params, { type: 'group.emptied', killed: false });
      return;
    }
    this.#signalGroup(running, group, signal, false);
  }

  async #kill(params: AgentParams): Promise<void> {
    this.#starts.drop(keyOf(params));
    const running = this.active(params.runId, params.agentId);
    const group = await running?.command.begun;
    if (running !== undefined && group !== undefined) {
      this.#signalGroup(running, group, 'SIGKILL', !this.#groups.isEmpty(group));
      return;
    }
    // Of a runner before this one, or of none.
    const killed = await this.#groups.killMarked(this.#mark(params)).catch(() => [0]);
    this.#tell(params, { type: 'group.emptied', killed: killed.length > 0 });
  }

  /** `killed`: its processes did not end by themselves. */
  #signalGroup(running: Running, group: number, signal: SignalName, killed: boolean): void {
    const { params } = running;
    running.cancelWait();
    this.#groups.signal(group, signal);
    this.#tell(params, { type: 'signal.sent' });
    running.cancelWait = this.#groups.whenEmpty(group, () =>
      this.#tell(params, { type: 'group.emptied', killed }),
    );
  }

  async #cleanUp(params: AgentParams): Promise<void> {
    this.#starts.drop(keyOf(params));
    let failure: string | null = null;
    let worktree: CleanupResult = null;
    try {
      for (const { command, cancelWait } of this.#running.get(keyOf(params)) ?? []) {
        cancelWait();
        const group = await command.begun;
        if (group !== undefined && !this.#groups.isEmpty(group))
          await this.#groups.terminate(group, []);
      }
      await this.#groups.killMarked(this.#mark(params));
      const plan = this.#services.plan(params.runId);
      if (plan.about.git !== null && params.role === 'map')
        worktree = await removeWorktree(plan, this.#services.data, params.agentId);
    } catch (thrown) {
      failure = messageOf(thrown);
    }
    await this.#forget(params, failure === null);
    this.#tell(params, { type: 'cleanup.finished', failure, worktree });
  }

  async #forget(params: AgentParams, isClean: boolean): Promise<void> {
    const commands = this.#running.get(keyOf(params)) ?? [];
    this.#running.delete(keyOf(params));
    this.#places.release(this.#mark(params).value, isClean);
    this.#services.timers?.release(params.agentId);
    await Promise.all(commands.map(({ command }) => command.release()));
  }

  #mark({ runId, agentId }: AgentParams): { readonly name: string; readonly value: string } {
    return { name: MARK, value: `${this.#services.data}/${runId}/${agentId}` };
  }

  #tell({ runId, agentId }: AgentParams, event: Sent<MapAgentEvent>): void {
    this.#services.runtime
      .actor(agentAddress(runId, agentId))
      .send(event as never)
      .catch((thrown: unknown) =>
        this.#services.logger.debug(
          { agentId, event: event.type, error: messageOf(thrown) },
          'an agent could not be told',
        ),
      );
  }
}
