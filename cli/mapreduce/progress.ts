/**
 * Progress of a run on standard error: on a terminal a table of the items at work, and a line of counts, that change;
 * otherwise a line for each item that is final. With `--json` these are lines of JSON, and there is one for each item
 * that begins an attempt, too. Nothing with `--quiet`.
 */

import { runAddress } from '../../machines/mapreduce/addresses.ts';
import { durationText } from '../../machines/mapreduce/words.ts';
import type { Host } from '../../programs/mapreduce/host.ts';
import type { RunEvent } from '../../programs/mapreduce/index.ts';
import { type ItemAtWork, itemsAtWork } from '../../programs/mapreduce/items-at-work.ts';
import { seconds } from '../agents/progress.ts';
import { type Output, printable } from '../render/output.ts';

const REDRAW_MS = 250;
/** Rows of the table: those whose attempts have begun first. */
const ROWS_SHOWN = 10;
const LAST_LINE_SHOWN = 60;

export interface ProgressOptions {
  readonly showsEta?: boolean;
  /** Lines of JSON in place of sentences. */
  readonly isJson?: boolean;
}

export class Progress {
  readonly #output: Output;
  readonly #host: Host;
  readonly #runId: string;
  /** Attempts of which a line of JSON has told. */
  readonly #told = new Set<string>();
  readonly #showsEta: boolean;
  readonly #isJson: boolean;
  readonly #beganAt: number;
  #ended = 0;
  #timeouts = 0;
  #cancel: (() => void) | undefined;

  constructor(
    host: Host,
    runId: string,
    output: Output,
    { showsEta = false, isJson = false }: ProgressOptions = {},
  ) {
    this.#showsEta = showsEta;
    this.#isJson = isJson;
    this.#beganAt = host.clock.now();
    this.#host = host;
    this.#runId = runId;
    this.#output = output;
    host.monitor.watch((event) => this.#take(event));
    if (output.showsProgress) this.#draw();
    // The first attempts begin with the run.
    else if (isJson) this.#tellBegun();
  }

  close(): void {
    this.#cancel?.();
    this.#output.progress(undefined);
  }

  #take({ event, run_id, agent_id = '', at, ...fields }: RunEvent): void {
    if (run_id !== this.#runId) return;
    if (event === 'TimeoutOccurred') this.#timeouts += 1;
    if (event === 'EnforcementUnavailable')
      this.#output.complain(`warning: ${agent_id}: ${printable(String(fields.reason))}\n`);
    if (event === 'ItemFinal') this.#ended += 1;
    if (this.#output.showsProgress) return;
    if (this.#isJson && event === 'AgentStarted') this.#tellBegun();
    if (event !== 'ItemFinal') return;
    if (this.#isJson) {
      const { work_item_id: item, outcome: state, reason } = fields;
      const eta = this.#showsEta ? { etaMs: this.#etaMs() } : {};
      this.#output.complain(`${JSON.stringify({ at, item, state, reason, ...eta })}\n`);
      return;
    }
    const reason = fields.reason === null ? '' : ` (${String(fields.reason)})`;
    const eta = this.#showsEta ? `, ${this.#eta()}` : '';
    this.#output.complain(
      `${printable(String(fields.work_item_id))}: ${String(fields.outcome)}${reason}${eta}\n`,
    );
  }

  #tellBegun(): void {
    const at = this.#host.clock.now();
    for (const item of itemsAtWork(this.#host, this.#runId)) {
      if (this.#told.has(item.agentId)) continue;
      this.#told.add(item.agentId);
      this.#output.complain(`${JSON.stringify({ at, ...item })}\n`);
    }
  }

  /** By the items that have ended since this process is at it; null before the first. */
  #etaMs(): number | null {
    const { clock, runtime } = this.#host;
    const { counts, rules } = runtime.actor(runAddress(this.#runId)).getSnapshot().context;
    const left = rules.itemCount - counts.done - counts.dlq - counts.skipped - counts.failed;
    if (this.#ended === 0) return null;
    const ms = ((clock.now() - this.#beganAt) / this.#ended) * left;
    return Math.round(ms / 1_000) * 1_000;
  }

  #eta(): string {
    const ms = this.#etaMs();
    return ms === null ? 'eta unknown' : `eta ${durationText(ms)}`;
  }

  #draw(): void {
    const { clock, runtime } = this.#host;
    const { context } = runtime.actor(runAddress(this.#runId)).getSnapshot();
    const { counts, rules, agents } = context;
    const parts = [
      `${counts.done}/${rules.itemCount} done`,
      `${agents.size} running`,
      `${counts.dlq} dlq`,
      `${counts.skipped} skipped`,
      `${this.#timeouts} timeout${this.#timeouts === 1 ? '' : 's'}`,
    ];
    const items = itemsAtWork(this.#host, this.#runId);
    const [longest] = items;
    if (longest !== undefined) {
      const { agentId, runningMs, limitMs } = longest;
      const of = limitMs === null ? '' : ` of ${durationText(limitMs)}`;
      parts.push(`longest ${agentId} ${seconds(runningMs)}${of}`);
    }
    if (this.#showsEta) parts.push(this.#eta());
    const left = items.length - ROWS_SHOWN;
    this.#output.progress(
      [
        ...items.slice(0, ROWS_SHOWN).map(rowOf),
        ...(left > 0 ? [`and ${left} more`] : []),
        parts.join(' · '),
      ].join('\n'),
    );
    this.#cancel = clock.schedule(clock.now() + REDRAW_MS, () => this.#draw());
  }
}

/** State, attempt, quiet for, time left, cost, last line of output. */
function rowOf({
  item,
  state,
  attempt,
  quietMs,
  remainingMs,
  costs,
  lastLine,
}: ItemAtWork): string {
  const spent = Object.entries(costs).map(([name, amount]) => `${name} ${amount}`);
  const parts = [
    printable(item).padEnd(12),
    state.padEnd(11),
    `attempt ${attempt}`,
    ...(quietMs === null ? [] : [`quiet ${seconds(quietMs)}`]),
    ...(remainingMs === null ? [] : [`left ${seconds(remainingMs)}`]),
    ...spent,
    printable(lastLine).slice(0, LAST_LINE_SHOWN),
  ];
  return parts.join('  ').trimEnd();
}
