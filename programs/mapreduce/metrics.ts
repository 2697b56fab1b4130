/**
 * Metrics of map-reduce runs in this process, as Prometheus reads them. Ids of runs, items and agents are never
 * labels.
 */

import type { LogEvent } from '../../machines/mapreduce/log-events.ts';
import type { Labels } from '../../runtime/base/prometheus-text.ts';
import { MetricFamilies } from '../runs.ts';

const BUCKETS_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600, 3_600];

const FAMILIES = {
  mapreduce_agents_started_total: ['counter', 'Attempts begun.'],
  mapreduce_agents_completed_total: ['counter', 'Attempts that ended with success.'],
  mapreduce_agents_failed_total: [
    'counter',
    'Attempts that ended without success and not by a timeout.',
  ],
  mapreduce_items_total: ['counter', 'Items by their end.'],
  mapreduce_retries_total: ['counter', 'Attempts after the first, by what ended the one before.'],
  mapreduce_timeouts_total: ['counter', 'Timeouts by type, enforced or only told.'],
  mapreduce_timeout_resolutions_total: [
    'counter',
    'Ends of timed out attempts and of their cleaning.',
  ],
  mapreduce_timeout_extensions_total: ['counter', 'Extensions given by people.'],
  mapreduce_timeout_alerts_total: ['counter', 'Runs whose rate of timeouts was too high.'],
  mapreduce_enforcement_unavailable_total: [
    'counter',
    'Attempts that no timer was registered for.',
  ],
  mapreduce_monitoring_dropped_total: ['counter', 'Events that a full queue has dropped.'],
  mapreduce_monitoring_failed_total: ['counter', 'Calls of a sink of events that have thrown.'],
  mapreduce_agents_active: ['gauge', 'Attempts at work.'],
  mapreduce_timers_active: ['gauge', 'Timers of attempts and commands that are armed.'],
  mapreduce_dlq_records: ['gauge', 'Failed items on record.'],
  mapreduce_timeout_rate_percent: ['gauge', 'Timeouts in a hundred attempts begun.'],
  mapreduce_agent_seconds: ['histogram', 'Time that attempts took.'],
  mapreduce_command_seconds: ['histogram', 'Time that commands took.'],
  mapreduce_timeout_decision_lateness_seconds: [
    'histogram',
    'Lateness of decisions after their deadline.',
  ],
  mapreduce_timeout_signal_lateness_seconds: [
    'histogram',
    'Lateness of first signals after their deadline.',
  ],
} as const;

type Family = keyof typeof FAMILIES;

/** Gauges that are counted when somebody asks. */
export type Gauge = 'agents_active' | 'timers_active' | 'dlq_records';

export class Metrics {
  readonly #families = new MetricFamilies<Family>(FAMILIES, BUCKETS_SECONDS);

  take(note: LogEvent): void {
    const take = this.#takers[note.event];
    take?.(note);
  }

  readonly #takers: Partial<Record<LogEvent['event'], (note: LogEvent) => void>> = {
    AgentStarted: () => this.#add('agents_started_total'),
    AgentCompleted: (note) => this.#ended(note, note.success === true ? 'completed' : 'failed'),
    CommandCompleted: ({ command_type, duration_ms }) =>
      this.#observe('command_seconds', { type: String(command_type) }, Number(duration_ms)),
    TimeoutOccurred: (note) => {
      const { timeout_type, enforced, lateness_ms } = note;
      this.#add('timeouts_total', { type: String(timeout_type), enforced: enforced === true });
      this.#observe('timeout_decision_lateness_seconds', {}, Number(lateness_ms));
      if (enforced === true) this.#ended(note, 'timedOut');
    },
    SignalSent: ({ lateness_ms }) =>
      this.#observe('timeout_signal_lateness_seconds', {}, Number(lateness_ms)),
    TimeoutResolved: ({ resolution }) =>
      this.#add('timeout_resolutions_total', { resolution: String(resolution) }),
    TimeoutExtended: () => this.#add('timeout_extensions_total'),
    TimeoutAlert: () => this.#add('timeout_alerts_total'),
    EnforcementUnavailable: ({ reason }) => {
      const isThere = String(reason).startsWith('Failed to register');
      const label = isThere ? 'RegistrationFailed' : 'EnforcerUnavailable';
      this.#add('enforcement_unavailable_total', { reason: label });
    },
    ItemRetried: ({ cause }) => this.#add('retries_total', { cause: String(cause) }),
    ItemFinal: ({ outcome }) => this.#add('items_total', { outcome: String(outcome) }),
  };

  #ended(note: LogEvent, outcome: 'completed' | 'failed' | 'timedOut'): void {
    if (outcome !== 'timedOut') this.#add(`agents_${outcome}_total`);
    this.#observe('agent_seconds', { outcome }, Number(note.total_duration_ms ?? note.elapsed_ms));
  }

  count(name: 'monitoring_dropped' | 'monitoring_failed'): void {
    this.#add(`${name}_total`);
  }

  /** The text that Prometheus reads. `gauges`: what is so now. */
  text(gauges: Readonly<Record<Gauge, number>>): string {
    const families = this.#families;
    for (const [name, value] of Object.entries(gauges))
      families.set(`mapreduce_${name as Gauge}`, [value]);
    const started = families.total('mapreduce_agents_started_total');
    const timeouts = families.total('mapreduce_timeouts_total', { enforced: true });
    const rate = started === 0 ? 0 : Math.round((timeouts / started) * 10_000) / 100;
    families.set('mapreduce_timeout_rate_percent', [rate]);
    return families.text();
  }

  #add(name: NameOf<Family>, labels: Labels = {}): void {
    this.#families.add(`mapreduce_${name}`, labels);
  }

  #observe(name: NameOf<Family>, labels: Labels, ms: number): void {
    this.#families.observe(`mapreduce_${name}`, labels, ms / 1_000);
  }
}

type NameOf<TFamily> = TFamily extends `mapreduce_${infer TName}` ? TName : never;
