/**
 * Notes that the machines of a run make about themselves: the records of its event log. They decide nothing.
 */

export const NOTE_EVENTS = [
  'agent_started',
  'agent_ended',
  'agent_timeout',
  'agent_idle',
  'agent_over_budget',
  'agent_progress',
  'agent_over_limit',
  'agent_stalled',
  'stalled_agent_recovered',
  'checkpoint_requested',
  'checkpoint_received',
  'checkpoint_timeout',
  'checkpoint_late',
  'malformed_line',
  'late_result_discarded',
  'line_discarded',
  'task_available',
  'task_done',
  'task_failed',
  'task_skipped',
  'task_replaced',
  'task_unreachable',
  'task_repeated_timeout',
  'delegation_refused',
  'delegation_queued',
  'delegation_started',
  'delegation_answered',
  'delegation_unsuccessful',
  'question_asked',
  'question_answered',
  'question_withdrawn',
  'answer_refused',
  'compaction_started',
  'compaction_completed',
  'compaction_failed',
  'quota_exhausted',
  'quota_available',
  'session_paused',
  'session_resumed',
  'run_begun',
  'run_draining',
  'run_blocked',
  'run_stopped',
  'run_finished',
  'grace_skipped',
] as const;

export type NoteEvent = (typeof NOTE_EVENTS)[number];

/** Fields as they stand in a line of JSON. */
export interface NoteParams {
  readonly event: NoteEvent;
  readonly at: number;
  readonly run_id: string;
  readonly agent_id?: string;
  readonly task_id?: string;
  /** Left out: `info`. */
  readonly level?: 'warn';
  readonly message?: string;
  readonly [field: string]: unknown;
}

/** Makes the notes of one machine: `fieldsOf` tells whose they are, and `fields` what each says. */
export const notingFor =
  <TContext extends { readonly runId: string }, TEvent extends { readonly at: number }>(
    fieldsOf: (context: TContext) => Partial<NoteParams>,
  ) =>
  (
    event: NoteEvent,
    fields: (args: { readonly context: TContext; readonly event: TEvent }) => object = () => ({}),
  ) =>
    ({
      type: 'note',
      params: (args: { readonly context: TContext; readonly event: TEvent }): NoteParams => ({
        event,
        at: args.event.at,
        run_id: args.context.runId,
        ...fieldsOf(args.context),
        ...fields(args),
      }),
    }) as const;
