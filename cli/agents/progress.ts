/**
 * Progress of a run of agents on standard error: a table that changes on a terminal, with what needs a human first,
 * otherwise a line for each thing that people should know. Nothing with `--quiet`.
 */

import { statusDocument } from '../../programs/agents/documents.ts';
import type { Host } from '../../programs/agents/host.ts';
import type { EventRecord } from '../../programs/agents/index.ts';
import { type Output, printable } from '../render/output.ts';
import { momentText } from '../render/time-text.ts';

const REDRAW_MS = 500;

const SHOWN: Readonly<Record<string, (record: EventRecord) => string>> = {
  agent_started: ({ agent_id }) => `${agent_id}: begun`,
  agent_ended: ({ agent_id, outcome, reason }) =>
    `${agent_id}: ${outcome}${reason === null ? '' : ` (${reason})`}`,
  checkpoint_timeout: ({ message }) => `warning: ${message}`,
  agent_stalled: ({ message }) => `warning: ${message}`,
  task_done: ({ task_id }) => `${task_id}: done`,
  task_failed: ({ task_id, error, reason }) => `${task_id}: failed (${error ?? reason})`,
  malformed_line: ({ agent_id, delegation_id, line, why, text }) =>
    `warning: ${delegation_id ?? agent_id}: ${line === undefined ? 'a line' : `line ${line}`} is dropped: ${why}${text === undefined ? '' : `: ${text}`}`,
  delegation_started: ({ delegation_id, expert }) =>
    `${delegation_id}: expert ${expert} is at work`,
  delegation_answered: ({ delegation_id }) => `${delegation_id}: answered`,
  agent_over_limit: ({ agent_id, limit }) => `warning: ${agent_id}: ${limit}`,
  answer_refused: ({ question_id }) => `warning: the answer to ${question_id} cannot be applied`,
  delegation_unsuccessful: ({ delegation_id, expert, reason }) =>
    `${delegation_id}: no answer of ${expert} (${reason})`,
  question_asked: ({ question_id, question, options }) =>
    `needs you: ${question_id}: ${question}${Array.isArray(options) ? ` [${options.join(' | ')}]` : ''} (escapement agents answer ${question_id} …)`,
  question_answered: ({ question_id }) => `${question_id}: answered`,
  compaction_failed: ({ reason }) => `warning: the compaction hook failed: ${reason}`,
  session_paused: ({ cause }) => `paused (${cause})`,
  session_resumed: () => 'resumed',
  quota_exhausted: ({ resets_at }) =>
    `warning: a quota is used up, the run waits until ${momentText(Number(resets_at))}`,
  quota_available: () => 'the quota is there again',
  run_draining: ({ cause }) => (cause === 'command' ? 'drains' : 'is being stopped'),
};

export class Progress {
  readonly #output: Output;
  readonly #host: Host;
  readonly #runId: string;
  #cancel: () => void = () => {};

  constructor(host: Host, runId: string, output: Output) {
    this.#host = host;
    this.#runId = runId;
    this.#output = output;
    host.log(runId).watch((record) => this.#take(record));
    if (output.showsProgress) this.#draw();
  }

  close(): void {
    this.#cancel();
    this.#output.progress(undefined);
  }

  #take(record: EventRecord): void {
    const shown = SHOWN[record.event];
    if (shown === undefined || this.#output.showsProgress) return;
    this.#output.complain(`${printable(shown(record))}\n`);
  }

  #draw(): void {
    const { clock, stored } = this.#host;
    const now = clock.now();
    const run = stored.run(this.#runId);
    if (run !== undefined) {
      const { tasks, agents, questions, slots, slotsInUse } = statusDocument(stored, run, now);
      const done = tasks.filter(({ state }) => state === 'done').length;
      this.#output.progress(
        [
          ...questions.map(({ id, text }) => `needs you  ${id}  ${text}`),
          ...agents.map(
            ({ attemptId, state, quietMs, remainingMs, lastAction }) =>
              `${attemptId}  ${state}  quiet ${seconds(quietMs)}  left ${seconds(remainingMs)}  ${lastAction ?? ''}`,
          ),
          `${done}/${tasks.length} done · ${slotsInUse}/${slots} slots`,
        ].join('\n'),
      );
    }
    this.#cancel = clock.schedule(now + REDRAW_MS, () => this.#draw());
  }
}

export const seconds = (ms: number): string => `${Math.floor(ms / 1_000)}s`;
