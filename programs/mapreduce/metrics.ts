/**
 * Metrics of map-reduce runs in this process, as Prometheus reads them. Ids of runs, items and agents are never
 * labels.
 */

import type { LogEvent } from '../../machines/mapreduce/log-events.ts';

const BUCKETS_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600, 3_600];

const HELP: Readonly<
  Record<string, readonly [type: 'counter' | 'gauge' | 'histogram', help: string]>
> = {
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
};

interface Histogram {
  readonly counts: number[];
  sum: number;
  count: number;
}

/** Gauges that are counted when somebody asks. */
export type Gauge = 'agents_active' | 'timers_active' | 'dlq_records';

type Labels = Readonly<Record<string, string | boolean>>;

export class Metrics {
  readonly #values = new Map<string, number>();
  readonly #histograms = new Map<string, Histogram>();

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

  value(name: string, labels: Labels = {}): number {
    return this.#values.get(seriesOf(name, labels)) ?? 0;
  }

  /** The text that Prometheus reads. `gauges`: what is so now. */
  text(gauges: Readonly<Record<Gauge, number>>): string {
    for (const [name, value] of Object.entries(gauges)) this.#values.set(seriesOf(name, {}), value);
    const started = this.value('agents_started_total');
    let timeouts = 0;
    for (const [series, value] of this.#values)
      if (series.startsWith('mapreduce_timeouts_total') && series.includes('enforced="true"'))
        timeouts += value;
    const rate = started === 0 ? 0 : Math.round((timeouts / started) * 10_000) / 100;
    this.#values.set('mapreduce_timeout_rate_percent', rate);
    const lines: string[] = [];
    for (const [name, [type, help]] of Object.entries(HELP)) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
      for (const [series, value] of this.#values)
        if (series === name || series.startsWith(`${name}{`)) lines.push(`${series} ${value}`);
      for (const [series, histogram] of this.#histograms)
        if (series === name || series.startsWith(`${name}{`))
          lines.push(...linesOf(series, histogram));
    }
    return `${lines.join('\n')}\n`;
  }

  #add(name: string, labels: Labels = {}, by = 1): void {
    const series = seriesOf(name, labels);
    this.#values.set(series, (this.#values.get(series) ?? 0) + by);
  }

  #observe(name: string, labels: Labels, ms: number): void {
    const series = seriesOf(name, labels);
    const found = this.#histograms.get(series);
    const histogram = found ?? { counts: BUCKETS_SECONDS.map(() => 0), sum: 0, count: 0 };
    this.#histograms.set(series, histogram);
    for (const [index, bound] of BUCKETS_SECONDS.entries())
      if (ms / 1_000 <= bound) histogram.counts[index] = (histogram.counts[index] ?? 0) + 1;
    histogram.sum += ms / 1_000;
    histogram.count += 1;
  }
}

function seriesOf(name: string, labels: Labels): string {
  const text = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return `mapreduce_${name}${text.length === 0 ? '' : `{${text.join(',')}}`}`;
}

function linesOf(series: string, { counts, sum, count }: Histogram): string[] {
  const [, name = series, labels = ''] = /^([^{]*)(?:\{(.*)\})?$/.exec(series) ?? [];
  const with_ = (label: string): string => `{${labels === '' ? '' : `${labels},`}${label}}`;
  const own = labels === '' ? '' : `{${labels}}`;
  return [
    ...BUCKETS_SECONDS.map(
      (bound, index) => `${name}_bucket${with_(`le="${bound}"`)} ${counts[index]}`,
    ),
    `${name}_bucket${with_('le="+Inf"')} ${count}`,
    `${name}_sum${own} ${sum}`,
    `${name}_count${own} ${count}`,
  ];
}
