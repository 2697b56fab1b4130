/**
 * The load of the overload rig: who submits what and when, what each was answered, and how it ended.
 *
 * It comes at its rate whether answers come or not. How jobs end it reads in the manager's log.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { StartedNode } from '../cli/started-node.ts';
import type { OverloadOptions } from './options.ts';
import { Requests } from './requests.ts';

const TICK_MS = 20;
const DRAIN_LIMIT_MS = 120_000;
const LOOK_AFTER_MS = 500;
const SETTLE_MS = 1_000;
/** The base load comes from the first one all the time, what is too much from the other. */
export const CLIENTS = ['steady', 'flood'] as const;
export type Client = (typeof CLIENTS)[number];
export type Phase = 'base' | 'during' | 'after';

export interface Sent {
  readonly jobId: string;
  readonly client: Client;
  readonly phase: Phase;
  readonly at: number;
  status: number;
  answeredAt: number;
  retryAfter: unknown;
}

/** By job. */
export type Ends = ReadonlyMap<unknown, { readonly at: number; readonly status: unknown }>;

export const tokenOf = (client: Client): string => `the-token-of-${client}-for-this-rig`;

export const isAccepted = ({ status }: Sent): boolean => status === 201 || status === 200;

export class Load {
  readonly #options: OverloadOptions;
  readonly #manager: StartedNode;
  readonly #requests: Readonly<Record<Client, Requests>>;
  readonly sent: Sent[] = [];
  readonly #underWay = new Set<Promise<void>>();
  /** When the overload was over. */
  overAt = 0;

  constructor(manager: StartedNode, options: OverloadOptions) {
    this.#manager = manager;
    this.#options = options;
    this.#requests = {
      steady: new Requests(manager.url, tokenOf('steady')),
      flood: new Requests(manager.url, tokenOf('flood')),
    };
  }

  /** `perSecond`: of both clients together, where there are two. */
  async phase(phase: Phase, seconds: number, perSecond: number): Promise<void> {
    const { basePerSecond, progress } = this.#options;
    const begunAt = Date.now();
    let steady = 0;
    let flood = 0;
    for (let at = begunAt; at - begunAt < seconds * 1_000; at = Date.now()) {
      const due = (rate: number): number => ((at - begunAt) / 1_000) * rate;
      for (; steady < due(basePerSecond); steady += 1) this.#submit('steady', phase);
      const floodPerSecond = Math.max(0, perSecond - basePerSecond);
      for (; flood < due(floodPerSecond); flood += 1) this.#submit('flood', phase);
      await pause(TICK_MS);
    }
    if (phase === 'during') this.overAt = Date.now();
    progress?.(`${phase}: ${steady} and ${flood} jobs`);
  }

  /** Waits until all that was accepted has ended; resolves with how many that were refused are there. */
  async settle(): Promise<number> {
    await Promise.all(this.#underWay);
    const limitAt = Date.now() + DRAIN_LIMIT_MS;
    const accepted = this.accepted();
    let ends = this.ends();
    while (accepted.some(({ jobId }) => !ends.has(jobId)) && Date.now() < limitAt) {
      await pause(LOOK_AFTER_MS);
      ends = this.ends();
    }
    await pause(SETTLE_MS);
    const there = new Set(this.#manager.lines.map(({ jobId }) => jobId));
    let found = 0;
    for (const { jobId } of this.shed()) {
      const isThere = there.has(jobId) || (await this.#isThere(jobId));
      if (isThere) found += 1;
    }
    for (const client of CLIENTS) this.#requests[client].close();
    return found;
  }

  /** As the log of the manager says. */
  ends(): Ends {
    const ended = this.#manager.lines.filter(({ event }) => event === 'job.ended');
    return new Map(ended.map(({ jobId, at, status }) => [jobId, { at: Number(at), status }]));
  }

  accepted(): readonly Sent[] {
    return this.sent.filter(isAccepted);
  }

  shed(): readonly Sent[] {
    return this.sent.filter(({ status }) => status === 503);
  }

  async #isThere(jobId: string): Promise<boolean> {
    const { status } = await this.#requests.steady.ask('GET', `/v1/jobs/${jobId}`);
    return status !== 404;
  }

  #submit(client: Client, phase: Phase): void {
    const { workMs, timeoutMs } = this.#options;
    const jobId = `${client}-${this.sent.length}`;
    const sent: Sent = {
      ...{ jobId, client, phase, at: Date.now() },
      ...{ status: 0, answeredAt: 0, retryAfter: undefined },
    };
    this.sent.push(sent);
    const payload = JSON.stringify({ ms: workMs });
    const workflows = [{ id: 'one', handler: 'sleep', payload }];
    const requests = this.#requests[client];
    const ask = () => requests.ask('POST', '/v1/jobs', { jobId, timeoutMs, workflows });
    // No answer: the connection was closed as it was used again. Anybody who has an id sends it once more.
    const asking = ask()
      .then((answer) => (answer.status === 0 ? ask() : answer))
      .then(({ status, headers }) => {
        sent.status = status;
        sent.answeredAt = Date.now();
        sent.retryAfter = headers['retry-after'];
        this.#underWay.delete(asking);
      });
    this.#underWay.add(asking);
  }
}
