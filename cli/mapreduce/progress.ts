/**
 * Progress of a run on standard error: one line that changes on a terminal, otherwise a line for each item that is
 * final. Nothing with `--quiet`.
 */

import { runAddress } from '../../machines/mapreduce/addresses.ts';
import { durationText } from '../../machines/mapreduce/words.ts';
import type { Host } from '../../programs/mapreduce/host.ts';
import type { RunEvent } from '../../programs/mapreduce/index.ts';
import { type Output, printable } from '../render/output.ts';

const REDRAW_MS = 250;

interface Active {
  readonly since: number;
  readonly limitMs: number | null;
}

export class Progress {
  readonly #output: Output;
  readonly #host: Host;
  readonly #runId: string;
  readonly #active = new Map<string, Active>();
  readonly #showsEta: boolean;
  readonly #beganAt: number;
  #ended = 0;
  #timeouts = 0;
  #cancel: (() => void) | undefined;

  constructor(host: Host, runId: string, output: Output, showsEta = false) {
    this.#showsEta = showsEta;
    this.#beganAt = host.clock.now();
    this.#host = host;
    this.#runId = runId;
    this.#output = output;
    host.monitor.watch((event) => this.#take(event));
    if (output.showsProgress) this.#draw();
  }

  close(): void {
    this.#cancel?.();
    this.#output.progress(undefined);
  }

  #take({ event, run_id, agent_id = '', at, ...fields }: RunEvent): void {
    if (run_id !== this.#runId) return;
    if (event === 'AgentStarted')
      this.#active.set(agent_id, {
        since: at,
        limitMs: fields.timeout_duration_ms as number | null,
      });
    if (event === 'AgentCompleted' || event === 'TimeoutOccurred') this.#active.delete(agent_id);
    if (event === 'TimeoutOccurred') this.#timeouts += 1;
    if (event === 'EnforcementUnavailable')
      this.#output.complain(`warning: ${agent_id}: ${printable(String(fields.reason))}\n`);
    if (event === 'ItemFinal') this.#ended += 1;
    if (event !== 'ItemFinal' || this.#output.showsProgress) return;
    const reason = fields.reason === null ? '' : ` (${String(fields.reason)})`;
    const eta = this.#showsEta ? `, ${this.#eta()}` : '';
    this.#output.complain(
      `${printable(String(fields.work_item_id))}: ${String(fields.outcome)}${reason}${eta}\n`,
    );
  }

  /** By the items that have ended since this process is at it. */
  #eta(): string {
    const { clock, runtime } = this.#host;
    const { counts, rules } = runtime.actor(runAddress(this.#runId)).getSnapshot().context;
    const left = rules.itemCount - counts.done - counts.dlq - counts.skipped - counts.failed;
    if (this.#ended === 0) return 'eta unknown';
    const ms = ((clock.now() - this.#beganAt) / this.#ended) * left;
    return `eta ${durationText(Math.round(ms / 1_000) * 1_000)}`;
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
    const [longest] = this.#active;
    if (longest !== undefined) {
      const [agentId, { since, limitMs }] = longest;
      const of = limitMs === null ? '' : ` of ${durationText(limitMs)}`;
      parts.push(`longest ${agentId} ${Math.floor((clock.now() - since) / 1_000)}s${of}`);
    }
    if (this.#showsEta) parts.push(this.#eta());
    this.#output.progress(parts.join(' · '));
    this.#cancel = clock.schedule(clock.now() + REDRAW_MS, () => this.#draw());
  }
}
