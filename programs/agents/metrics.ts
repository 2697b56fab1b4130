/**
 * Metrics of runs, as Prometheus reads them. No id of a run, a task or an attempt is ever a label.
 */

import type { NoteParams } from '../../machines/agents/notes.ts';
import type { Labels } from '../../runtime/base/prometheus-text.ts';
import { MetricFamilies } from '../runs.ts';

const FAMILIES = {
  agents_started_total: ['counter', 'Attempts whose process was started.'],
  agents_ended_total: ['counter', 'Attempts that have ended, by outcome.'],
  agents_checkpoint_requests_total: ['counter', 'Checkpoints that were asked for, by reason.'],
  agents_checkpoint_misses_total: [
    'counter',
    'Requests of a checkpoint that nobody answered in time.',
  ],
  agents_checkpoints_late_total: ['counter', 'Checkpoints that came after their time.'],
  agents_stalls_total: ['counter', 'Attempts that were found stalled.'],
  agents_timeouts_total: ['counter', 'Attempts that were ended by their clock.'],
  agents_terminations_total: ['counter', 'Attempts by the strongest signal that ending them took.'],
  agents_escalations_total: ['counter', 'Answers to tasks that ran out of time again and again.'],
  agents_delegations_total: ['counter', 'Delegations by result.'],
  agents_compactions_total: ['counter', 'Compactions by result.'],
  agents_pauses_total: ['counter', 'Pauses by cause.'],
  agents_malformed_lines_total: [
    'counter',
    'Lines that were dropped because nothing could be made of them.',
  ],
  agents_late_results_total: ['counter', 'Results that came when the outcome was fixed.'],
  agents_idle_total: ['counter', 'Attempts that were ended because they printed nothing.'],
  agents_over_budget_total: ['counter', 'Attempts that were ended because a budget was used up.'],
  agents_over_limit_total: ['counter', 'Attempts that printed too much or did not read, by limit.'],
  agents_quotas_total: ['counter', 'Pauses because a quota was used up.'],
  agents_drains_total: ['counter', 'Runs that were to end what runs and begin nothing, by cause.'],
  agents_requeues_total: ['counter', 'Times that a task became available, by reason.'],
  agents_questions_total: ['counter', 'Questions to a human, by kind.'],
  agents_answers_refused_total: ['counter', 'Answers of a human that could not be applied.'],
  agents_lines_discarded_total: ['counter', 'Lines that came too late or again, by reason.'],
  agents_active: ['gauge', 'Attempts that have not ended.'],
  agents_slots: ['gauge', 'Slots of all live runs.'],
  agents_tasks: ['gauge', 'Tasks of all live runs, by state.'],
  agents_questions_open: ['gauge', 'Questions that wait for a human.'],
  agents_active_seconds: ['histogram', 'Active time of attempts, by outcome.'],
  agents_timeout_lateness_seconds: [
    'histogram',
    'Time from the due moment of a timeout to its decision.',
  ],
} as const;

type Family = keyof typeof FAMILIES;

/** How an event is counted: in which family, by which label, and the field that has its value. */
type Counted = readonly [name: Family, label?: string, field?: string];

/** Null: it is told by another event, or by a gauge. */
const COUNTED: Readonly<Record<NoteParams['event'], Counted | null>> = {
  agent_started: ['agents_started_total'],
  agent_ended: ['agents_ended_total', 'outcome'],
  agent_timeout: ['agents_timeouts_total'],
  agent_idle: ['agents_idle_total'],
  agent_over_budget: ['agents_over_budget_total'],
  agent_over_limit: ['agents_over_limit_total', 'limit'],
  agent_progress: null,
  agent_stalled: ['agents_stalls_total'],
  stalled_agent_recovered: null,
  answer_refused: ['agents_answers_refused_total'],
  checkpoint_requested: ['agents_checkpoint_requests_total', 'reason'],
  checkpoint_received: null,
  checkpoint_timeout: ['agents_checkpoint_misses_total'],
  checkpoint_late: ['agents_checkpoints_late_total'],
  compaction_started: null,
  compaction_completed: null,
  compaction_failed: null,
  delegation_refused: ['agents_delegations_total', 'result', 'reason'],
  delegation_queued: null,
  delegation_started: null,
  delegation_answered: null,
  delegation_unsuccessful: ['agents_delegations_total', 'result', 'reason'],
  grace_skipped: null,
  late_result_discarded: ['agents_late_results_total'],
  line_discarded: ['agents_lines_discarded_total', 'reason'],
  malformed_line: ['agents_malformed_lines_total'],
  question_asked: ['agents_questions_total', 'kind'],
  question_answered: null,
  question_withdrawn: null,
  quota_exhausted: ['agents_quotas_total'],
  quota_available: null,
  run_begun: null,
  run_blocked: null,
  run_draining: ['agents_drains_total', 'cause'],
  run_finished: null,
  run_stopped: null,
  session_paused: ['agents_pauses_total', 'cause'],
  session_resumed: null,
  task_available: ['agents_requeues_total', 'reason'],
  task_done: null,
  task_failed: null,
  task_replaced: null,
  task_repeated_timeout: null,
  task_skipped: null,
  task_unreachable: null,
};

const BUCKETS_SECONDS = [0.001, 0.01, 0.1, 1, 10, 60, 300, 900, 3_600, 86_400];

export interface Gauges {
  readonly slots: number;
  readonly active: number;
  readonly questionsOpen: number;
  readonly tasks: Readonly<Record<string, number>>;
}

export class Metrics {
  readonly #families = new MetricFamilies<Family>(FAMILIES, BUCKETS_SECONDS);

  take(note: NoteParams): void {
    const label = (field: string): string => String(note[field] ?? 'none');
    const counted = COUNTED[note.event];
    if (counted !== null) {
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
    this.#families.set('agents_active', [active]);
    this.#families.set('agents_slots', [slots]);
    this.#families.set('agents_questions_open', [questionsOpen]);
    const states = Object.entries(tasks);
    this.#families.set(
      'agents_tasks',
      ...states.map(([state, count]) => [count, { state }] as const),
    );
    return this.#families.text();
  }

  #count(name: Family, labels: Labels = {}): void {
    this.#families.add(name, labels);
  }

  #observe(name: Family, labels: Labels, ms: number): void {
    this.#families.observe(name, labels, ms / 1_000);
  }
}
