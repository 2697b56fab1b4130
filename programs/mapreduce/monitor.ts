/**
 * Monitor: the events of a run for those who watch, and its metrics.
 *
 * Events pass a bounded queue whose oldest give way, so that a slow sink costs events and never time; a sink that
 * throws is counted. Nothing decided depends on any of it.
 */

import type { LogEvent, MonitoringEvent } from '../../machines/mapreduce/log-events.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import { Metrics } from './metrics.ts';

/** An event as one line of JSON has it. */
export interface RunEvent {
  readonly at: number;
  readonly event: MonitoringEvent;
  readonly run_id: string;
  readonly agent_id?: string;
  readonly [field: string]: unknown;
}

export type Sink = (event: RunEvent) => unknown;

const QUEUE_MAX = 1_000;
/** Events that are no part of monitoring: they tell how the run goes. */
const OF_RUN: ReadonlySet<MonitoringEvent> = new Set<MonitoringEvent>([
  'EnforcementUnavailable',
  'SignalSent',
  'RunPaused',
  'RunContinued',
  'ItemRetried',
  'ItemFinal',
  'RunEnded',
]);

export class Monitor {
  readonly metrics = new Metrics();
  readonly #clock: Clock;
  readonly #queueMax: number;
  readonly #sinks = new Set<Sink>();
  readonly #watchers = new Set<Sink>();
  #queue: RunEvent[] = [];
  #isFlushing = false;

  constructor(clock: Clock, queueMax = QUEUE_MAX) {
    this.#clock = clock;
    this.#queueMax = queueMax;
  }

  /** A sink of monitoring: its eight events. */
  attach(sink: Sink): void {
    this.#sinks.add(sink);
  }

  /** Everything, also where monitoring is off: for those who show how the run goes. */
  watch(watcher: Sink): void {
    this.#watchers.add(watcher);
  }

  /** `itemId` of the item that it is about; `isMonitored` of its run. */
  take(note: LogEvent, itemId: string | undefined, isMonitored: boolean): void {
    const { item_index, role, lateness_ms, command_type, ...rest } = note;
    const isOfMap = role === undefined || role === 'map';
    if (isOfMap) this.metrics.take(note);
    const needsItem = note.event === 'AgentStarted' || note.event === 'TimeoutOccurred';
    const named = needsItem || OF_RUN.has(note.event) ? { work_item_id: itemId } : {};
    const event = { ...rest, ...(itemId !== undefined && named) } as RunEvent;
    for (const watcher of this.#watchers) this.#call(watcher, event);
    if (!isMonitored || !isOfMap || OF_RUN.has(note.event) || this.#sinks.size === 0) return;
    if (this.#queue.length >= this.#queueMax) {
      this.#queue.shift();
      this.metrics.count('monitoring_dropped');
    }
    this.#queue.push(event);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    this.#clock.defer(() => this.flush());
  }

  /** Hands out what waits. */
  flush(): void {
    this.#isFlushing = false;
    const events = this.#queue;
    this.#queue = [];
    for (const event of events) for (const sink of this.#sinks) this.#call(sink, event);
  }

  #call(sink: Sink, event: RunEvent): void {
    try {
      Promise.resolve(sink(event)).catch(() => this.metrics.count('monitoring_failed'));
    } catch {
      this.metrics.count('monitoring_failed');
    }
  }
}
