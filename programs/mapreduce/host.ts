/**
 * Host of runs: a runtime on a directory, with the kinds of a run and all that carries out what they ask for.
 *
 * One process owns the directory at a time. Opening it wakes what a runner before has left: its attempts are
 * ended and cleaned, its runs wait to be resumed.
 */

import { createHash } from 'node:crypto';
import { failedItemAddress, runAddress } from '../../machines/mapreduce/addresses.ts';
import { failedItemMachine } from '../../machines/mapreduce/failed-item.ts';
import type { LogEvent } from '../../machines/mapreduce/log-events.ts';
import { mapAgentMachine } from '../../machines/mapreduce/map-agent.ts';
import type { KeepParams } from '../../machines/mapreduce/run/steps.ts';
import { type RunInput, runMachine } from '../../machines/mapreduce/run.ts';
import type { PerformerCall } from '../../runtime/actor.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { Launcher } from '../processes.ts';
import { type HostParts, openHost } from '../runs.ts';
import { Attempts } from './attempts.ts';
import { forgetControl } from './control.ts';
import { mapResults, type RunDocument, runDocument } from './documents.ts';
import { Monitor } from './monitor.ts';
import { type Plan, planOf } from './plan.ts';
import { RunFolder } from './run-folder.ts';
import { isOver, PLACE, StoredRuns } from './stored-runs.ts';
import { activeTimers } from './timeouts.ts';
import { engineTimers, type TimerPort } from './timer-port.ts';

export interface HostOptions {
  /** Directory of the data; made where there is none. */
  readonly data: string;
  readonly clock?: Clock | undefined;
  readonly logger?: Logger | undefined;
  /** Null: no enforcer is there. Default: the deadlines of the engine. */
  readonly timers?: TimerPort | null | undefined;
  /** Commands after which a helper process starts them. Default 8. */
  readonly launcherAfter?: number | undefined;
  /** A command that ends sooner than this many milliseconds is told of once, by its end. Default 100. */
  readonly spawnedToldAfterMs?: number | undefined;
}

type OfAttempts = Pick<HostOptions, 'timers' | 'launcherAfter' | 'spawnedToldAfterMs'>;

type Kinds = {
  mapreduce: typeof runMachine;
  'map-agent': typeof mapAgentMachine;
  'failed-item': typeof failedItemMachine;
};

const LIMITS = {
  mailboxMax: 1_000_000,
  outboxMax: 1_000_000,
  sendersMax: 10_000_000,
} as const;

export class Host {
  readonly data: string;
  readonly runtime: Runtime<Kinds>;
  readonly stored: StoredRuns;
  readonly monitor: Monitor;
  readonly attempts: Attempts;
  readonly clock: Clock;
  readonly #plans = new Map<string, Plan>();

  private constructor(
    { data, clock, logger, store, runtime }: HostParts,
    { timers, launcherAfter, spawnedToldAfterMs }: OfAttempts,
  ) {
    this.data = data;
    this.runtime = runtime as unknown as Runtime<Kinds>;
    this.stored = new StoredRuns(store);
    this.monitor = new Monitor(clock);
    this.clock = clock;
    this.attempts = new Attempts({
      runtime,
      clock,
      logger,
      data,
      timers: timers === undefined ? engineTimers() : timers,
      launcher: new Launcher(launcherAfter),
      spawnedToldAfterMs,
      plan: (runId) => this.plan(runId),
      results: (runId) => this.results(runId),
    });
  }

  /** @throws {RuntimeError} STORE_LOCKED and what else opening a store throws */
  static async open(given: HostOptions): Promise<Host> {
    const { data, timers, launcherAfter, spawnedToldAfterMs, ...ports } = given;
    const options = { ...ports, directory: data, place: PLACE, limits: LIMITS };
    const opened = await openHost<Host>(options, (parts, here) => {
      const host = new Host(parts, { timers, launcherAfter, spawnedToldAfterMs });
      host.#register(parts.runtime, here);
      return host;
    });
    forgetControl(opened.data);
    return opened;
  }

  #register(runtime: Runtime, here: () => Host): void {
    const note = ({ params }: { params: LogEvent }) => here().#note(params);
    const keepFailure = {
      durable: true,
      attemptsMax: Number.POSITIVE_INFINITY,
      run: (call: PerformerCall & { readonly params: KeepParams }) => here().#keepFailure(call),
    } as const;
    runtime
      .register('mapreduce', runMachine, { ties: 'timers', perform: { note, keepFailure } })
      .register('map-agent', mapAgentMachine, {
        ties: 'timers',
        livesOnce: true,
        perform: { note, ...this.attempts.performers },
      })
      .register('failed-item', failedItemMachine, {});
  }

  folder(runId: string): RunFolder {
    return new RunFolder(this.data, runId);
  }

  plan(runId: string): Plan {
    const known = this.#plans.get(runId);
    if (known !== undefined) return known;
    const { context } = this.runtime.actor(runAddress(runId)).getSnapshot();
    const plan = planOf(context as RunInput, this.folder(runId));
    this.#plans.set(runId, plan);
    return plan;
  }

  document(runId: string): RunDocument {
    const run = this.stored.run(runId);
    if (run === undefined) throw unknownRun(runId);
    return runDocument(this.stored, run, this.folder(runId));
  }

  results(runId: string): string {
    const run = this.stored.run(runId);
    if (run === undefined) throw unknownRun(runId);
    return mapResults(this.stored, run, this.folder(runId));
  }

  /** Metrics as Prometheus reads them. */
  metricsText(): string {
    const live = [...this.stored.live()];
    const agents = live.flatMap(({ context }) => [...this.stored.activeAgents(context.runId)]);
    return this.monitor.metrics.text({
      agents_active: agents.filter(({ context }) => context.role === 'map').length,
      timers_active: activeTimers(this.stored, live, this.clock.now()).length,
      dlq_records: this.stored.failedItemCount,
    });
  }

  /** Resolves when the run has come to an end, for good or to be resumed. */
  ended(runId: string): Promise<void> {
    return new Promise((resolve) => {
      const run = this.runtime.actor(runAddress(runId));
      // Some end while they are being subscribed to.
      let watch: { unsubscribe(): void } | undefined;
      const look = ({ value }: { readonly value: unknown }): void => {
        if (!isOver(value)) return;
        watch?.unsubscribe();
        resolve();
      };
      watch = run.subscribe({ next: look, complete: () => resolve(), error: () => resolve() });
      look(run.getSnapshot());
    });
  }

  async close(): Promise<void> {
    await this.runtime.stop();
    this.attempts.close();
    this.monitor.flush();
    for (const { items } of this.#plans.values()) items.close();
  }

  #note(note: LogEvent): void {
    const { run_id, item_index } = note;
    const { items, about } = this.plan(run_id);
    const hasItem = typeof item_index === 'number' && (note.role ?? 'map') === 'map';
    this.monitor.take(note, hasItem ? items.at(item_index).itemId : undefined, about.monitoring);
  }

  async #keepFailure({
    params: { runId, itemIndex, failures },
    effectId,
    send,
  }: PerformerCall & { readonly params: KeepParams }): Promise<void> {
    const { items, rules } = this.plan(runId);
    const { itemId } = items.at(itemIndex);
    const { workflow } = rules;
    const address = failedItemAddress(failedItemKey(workflow, itemId));
    const actor = this.runtime.actor(address);
    const id = hashOf(effectId);
    const last = failures.at(-1);
    if (last !== undefined) {
      await this.runtime.spawn(address, { input: { workflow, itemId }, ifAbsent: true });
      const { agentId } = last;
      const timeout = this.stored.agent(runId, agentId)?.context.timeout ?? null;
      const event = {
        type: 'failures.recorded',
        runId,
        itemIndex,
        agentId,
        failures,
        timeout,
      } as const;
      await actor.send(event, { id });
    } else if (this.stored.isListed(address)) await actor.send({ type: 'record.resolved' }, { id });
    await send({ type: 'failure.kept', itemIndex });
  }
}

export function unknownRun(runId: string): RuntimeError {
  return new RuntimeError('INPUT_INVALID', `There is no run "${runId}".`);
}

/** Key of an item among the failed ones: its own id may have any characters. */
const failedItemKey = (workflow: string, itemId: string): string =>
  hashOf(JSON.stringify([workflow, itemId]));

const hashOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 32);
