/**
 * Happenings in plain words: one line for each thing that a person would want to know.
 *
 * It reads the logs of all nodes and hears of the faults, and decides nothing. It says nothing of
 * what happens all the time. Names come from data: the code that prints a line makes it printable.
 */

import { operationParts } from '../machines/jobs/addresses.ts';
import type { Fault } from './faults.ts';
import type { LogRecord, NodeExit, NodeProcess } from './node-process.ts';
import { type Datacenter, shortName } from './topology.ts';

export interface Happening {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
  /** `fault`: somebody did that on purpose. `trouble`: nobody did. */
  readonly tone: 'fault' | 'good' | 'plain' | 'trouble';
}

/** Lines that are kept; the oldest go first. */
const KEPT_MAX = 200;

export class Happenings {
  readonly all: Happening[] = [];
  /** Times that takeovers took, from the death of the leader to the next one. */
  readonly takeoversMs: number[] = [];
  readonly #killed = new Map<Datacenter, { readonly node: string; readonly at: number }>();
  readonly #onNew: (happening: Happening) => void;
  readonly #silent = new Set<string>();
  #gateStoppedAt: number | undefined;

  constructor(onNew: (happening: Happening) => void = () => {}) {
    this.#onNew = onNew;
  }

  say(tone: Happening['tone'], text: string, at: number = Date.now()): void {
    const happening = { at, text, tone };
    this.all.push(happening);
    if (this.all.length > KEPT_MAX) this.all.shift();
    this.#onNew(happening);
  }

  began({ kind, target, datacenter, at }: Fault, lengthMs: number): void {
    const node = shortName(target);
    if (kind === 'workerPaused')
      this.say('fault', `${datacenter}: ${node} is stopped (SIGSTOP) for ${seconds(lengthMs)}`, at);
    if (kind === 'managerKilled' && datacenter !== undefined) {
      this.#killed.set(datacenter, { node, at });
      this.say('fault', `${datacenter}: ${node}, which leads, is killed (SIGKILL)`, at);
    }
    if (kind === 'gateRestarted') {
      this.#gateStoppedAt = at;
      this.say('fault', 'gate: is restarted; jobs go on without it', at);
    }
    if (kind === 'partition') {
      const length = lengthMs === 0 ? '' : ` for ${seconds(lengthMs)}`;
      this.say('fault', `${target}: is cut off from the gate${length}`, at);
    }
  }

  ended({ kind, target, datacenter }: Fault): void {
    if (kind === 'workerPaused') this.say('fault', `${datacenter}: ${shortName(target)} may go on`);
    if (kind === 'managerKilled')
      this.say('fault', `${datacenter}: ${shortName(target)} is started again`);
    if (kind === 'partition') this.say('fault', `${target}: reaches the gate again`);
  }

  exited({ plan }: NodeProcess, { isUnexpected, isLocked, how, complaint }: NodeExit): void {
    if (!isUnexpected) return;
    if (isLocked) {
      this.say('plain', `${plan.name} waits: another process still uses its data`);
      return;
    }
    const [why] = complaint.trim().split('\n').slice(-1);
    this.say('trouble', `${plan.name} has ended by itself: ${how}${why ? `, ${why}` : ''}`);
  }

  heard({ plan }: NodeProcess, record: LogRecord): void {
    const { datacenter, name, role } = plan;
    if (record.event === 'node.hosting') this.#leads(plan.datacenter, name, record);
    // The gate says it of each job.
    if (record.event === 'datacenter.silent' || record.event === 'datacenter.heard')
      this.#heardOf(record);
    const text = role === 'gate' ? gateSays(record) : managerSays(record, datacenter);
    if (text !== undefined) this.say('plain', text, record.time);
  }

  #heardOf({ event, datacenter, silentMs, time }: LogRecord): void {
    const name = String(datacenter);
    const isSilent = event === 'datacenter.silent';
    if (isSilent === this.#silent.has(name)) return;
    if (isSilent) this.#silent.add(name);
    else this.#silent.delete(name);
    const text = isSilent
      ? `has not heard ${name} for ${seconds(silentMs)}`
      : `hears ${name} again`;
    this.say('plain', `gate: ${text}`, time);
  }

  #leads(datacenter: Datacenter | undefined, node: string, { time, fence }: LogRecord): void {
    if (datacenter === undefined) {
      const since = this.#gateStoppedAt;
      this.#gateStoppedAt = undefined;
      const after = since === undefined ? '' : `, ${seconds(time - since)} after it was stopped`;
      this.say('good', `gate: takes jobs (fence ${fence})${after}`, time);
      return;
    }
    const killed = this.#killed.get(datacenter);
    this.#killed.delete(datacenter);
    const leads = `${datacenter}: ${shortName(node)} leads${killed ? ' now' : ''} (fence ${fence})`;
    if (killed === undefined) this.say('good', leads, time);
    else {
      this.takeoversMs.push(Math.max(0, time - killed.at));
      this.say(
        'good',
        `${leads}, ${shortTime(time - killed.at)} after ${killed.node} was killed`,
        time,
      );
    }
  }
}

function gateSays(record: LogRecord): string | undefined {
  const { event, jobId, reason } = record;
  switch (event) {
    case 'timeout.declared':
      return `gate: ends ${jobId} everywhere: ${words(reason)}`;
    case 'job.ended':
      if (record.status !== 'failed') return undefined;
      return `gate: ${jobId} has failed: ${words(record.reason)}`;
    default:
      return undefined;
  }
}

function managerSays(record: LogRecord, here: string | undefined): string | undefined {
  const { event, jobId, workerId } = record;
  const worker = typeof workerId === 'string' ? shortName(workerId) : 'a worker';
  switch (event) {
    case 'worker.suspect':
      return `${here}: ${worker} is silent, and gets no new work`;
    case 'worker.recovered':
      return `${here}: ${worker} is heard again`;
    case 'worker.evicted':
      return `${here}: ${worker} is given up; what it ran is run elsewhere`;
    case 'worker.attemptLost':
      if (record.cause === 'evicted') return undefined;
      return `${here}: ${worker} has lost a run of ${jobOf(record)}, which is run again`;
    case 'extension.granted':
      return `${here}: ${worker} gets ${seconds(record.extensionMs)} more for ${jobOf(record)}`;
    case 'timeout.fallback':
      return `${here}: ends ${jobId} alone, because the gate is out of reach`;
    default:
      return undefined;
  }
}

function jobOf({ operationId }: LogRecord): string {
  return typeof operationId === 'string' ? operationParts(operationId).jobId : 'its work';
}

const IN_WORDS: Readonly<Record<string, string>> = {
  overall: 'its time is used up',
  datacenterTimeout: 'a datacenter says that it gets nowhere',
  allDatacentersStuck: 'it gets nowhere in any datacenter',
  fallback: 'a datacenter decided alone',
  workflowFailed: 'a workflow failed for good',
  dispatchExhausted: 'no worker took a workflow',
  noDatacenter: 'no datacenter took it',
};

function words(reason: unknown): string {
  return IN_WORDS[String(reason)] ?? String(reason);
}

/** `1.2 s` */
export function seconds(ms: unknown): string {
  return `${(Number(ms) / 1_000).toFixed(1)} s`;
}

/** `140 ms`, `1.2 s` */
export function shortTime(ms: number): string {
  return ms < 1_000 ? `${Math.max(0, Math.round(ms))} ms` : seconds(ms);
}

/** `14:03:22` */
export function clockTime(at: number): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}
