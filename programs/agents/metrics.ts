/**
 * Metrics of runs, as Prometheus reads them. No id of a run, a task or an attempt is ever a label.
 */

import type { NoteParams } from '../../machines/agents/notes.ts';

type Labels = Readonly<Record<string, string>>;

const COUNTERS = {
  agents_started_total: 'Attempts whose process was started.',
  agents_ended_total: 'Attempts that have ended, by outcome.',
  agents_checkpoint_requests_total: 'Checkpoints that were asked for, by reason.',
  agents_checkpoint_misses_total: 'Requests of a checkpoint that nobody answered in time.',
  agents_checkpoints_late_total: 'Checkpoints that came after their time.',
  agents_stalls_total: 'Attempts that were found stalled.',
  agents_timeouts_total: 'Attempts that were ended by their clock.',
  agents_terminations_total: 'Attempts by the strongest signal that ending them took.',
  agents_escalations_total: 'Answers to tasks that ran out of time again and again.',
  agents_delegations_total: 'Delegations by result.',
  agents_compactions_total: 'Compactions by result.',
  agents_pauses_total: 'Pauses by cause.',
  agents_malformed_lines_total: 'Lines that were dropped because nothing could be made of them.',
  agents_late_results_total: 'Results that came when the outcome was fixed.',
} as const;

/** Events that are one more of something: by which label, and the field that has its value. */
const COUNTED: Readonly<
  Partial<
    Record<
      NoteParams['event'],
      readonly [name: keyof typeof COUNTERS, label?: string, field?: string]
    >
  >
> = {
  agent_started: ['agents_started_total'],
  agent_ended: ['agents_ended_total', 'outcome'],
  checkpoint_requested: ['agents_checkpoint_requests_total', 'reason'],
  checkpoint_timeout: ['agents_checkpoint_misses_total'],
  checkpoint_late: ['agents_checkpoints_late_total'],
  agent_stalled: ['agents_stalls_total'],
  agent_timeout: ['agents_timeouts_total'],
  delegation_unsuccessful: ['agents_delegations_total', 'result', 'reason'],
  session_paused: ['agents_pauses_total', 'cause'],
  malformed_line: ['agents_malformed_lines_total'],
  late_result_discarded: ['agents_late_results_total'],
};

const GAUGES = {
  agents_active: 'Attempts that have not ended.',
  agents_slots: 'Slots of all live runs.',
  agents_tasks: 'Tasks of all live runs, by state.',
  agents_questions_open: 'Questions that wait for a human.',
} as const;

const HISTOGRAMS = {
  agents_active_seconds: 'Active time of attempts, by outcome.',
  agents_timeout_lateness_seconds: 'Time from the due moment of a timeout to its decision.',
} as const;

const BUCKETS_SECONDS = [0.001, 0.01, 0.1, 1, 10, 60, 300, 900, 3_600, 86_400];

interface Histogram {
  readonly counts: number[];
  sum: number;
  count: number;
}

export interface Gauges {
  readonly slots: number;
  readonly active: number;
  readonly questionsOpen: number;
  readonly tasks: Readonly<Record<string, number>>;
}

export class Metrics {
  readonly #counters = new Map<string, number>();
  readonly #histograms = new Map<string, Histogram>();

  take(note: NoteParams): void {
    const label = (field: string): string => String(note[field] ?? 'none');
    const counted = COUNTED[note.event];
    if (counted !== undefined) {
      const [name, by, field] = counted;
      this.#count(name, by === undefined ? {} : { [by]: label(field ?? by) });
    }
    if (note.event === 'agent_ended') {
      const outcome = label('outcome');
      this.#count('agents_terminations_total', { signal: label('signal') });
      this.#observe('agents_active_seconds', { outcome }, Number(note.active_ms));
    }
    if (note.event === 'agent_timeout')
      this.#observe('agents_timeout_lateness_seconds', {}, Number(note.lateness_ms));
    if (note.event === 'question_answered' && note.kind === 'escalation')
      this.#count('agents_escalations_total', { answer: label('answer') });
    if (note.event === 'delegation_answered')
      this.#count('agents_delegations_total', { result: 'answered' });
    if (note.event === 'compaction_completed' || note.event === 'compaction_failed')
      this.#count('agents_compactions_total', { result: note.event.slice('compaction_'.length) });
  }

  /** The text that Prometheus reads. */
  text({ slots, active, questionsOpen, tasks }: Gauges): string {
    const lines: string[] = [];
    for (const [name, help] of Object.entries(COUNTERS)) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} counter`);
      for (const [series, value] of this.#counters)
        if (series === name || series.startsWith(`${name}{`)) lines.push(`${series} ${value}`);
    }
    const gauges: Readonly<Record<string, number>> = {
      agents_active: active,
      agents_slots: slots,
      agents_questions_open: questionsOpen,
    };
    for (const [name, help] of Object.entries(GAUGES)) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`);
      if (name in gauges) lines.push(`${name} ${gauges[name]}`);
      else
        for (const [state, count] of Object.entries(tasks))
          lines.push(`${name}{state="${state}"} ${count}`);
    }
    for (const [name, help] of Object.entries(HISTOGRAMS)) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} histogram`);
      for (const [series, histogram] of this.#histograms)
        if (series === name || series.startsWith(`${name}{`))
          lines.push(...linesOf(series, histogram));
    }
    return `${lines.join('\n')}\n`;
  }

  #count(name: keyof typeof COUNTERS, labels: Labels = {}): void {
    const series = seriesOf(name, labels);
    this.#counters.set(series, (this.#counters.get(series) ?? 0) + 1);
  }

  #observe(name: keyof typeof HISTOGRAMS, labels: Labels, ms: number): void {
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
  return text.length === 0 ? name : `${name}{${text.join(',')}}`;
}

function linesOf(series: string, { counts, sum, count }: Histogram): string[] {
  const [, name = series, labels = ''] = /^([^{]*)(?:\{(.*)\})?$/.exec(series) ?? [];
  const among = (label: string): string => `{${labels === '' ? '' : `${labels},`}${label}}`;
  const own = labels === '' ? '' : `{${labels}}`;
  return [
    ...BUCKETS_SECONDS.map((bound, at) => `${name}_bucket${among(`le="${bound}"`)} ${counts[at]}`),
    `${name}_bucket${among('le="+Inf"')} ${count}`,
    `${name}_sum${own} ${sum}`,
    `${name}_count${own} ${count}`,
  ];
}
