/**
 * The clients of a run: one for each place that is asked, on a node of its own, one network delay
 * away and never part of a fault.
 *
 * Guarantees: each call and what came of it is in the history; of one that was given up nobody says
 * whether it was done.
 */

import { connectClient, type JobsClient } from '../../programs/jobs/client.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { AnswerFact, CallFact } from '../history.ts';
import type { World } from '../world.ts';
import type { PlannedJob, ServiceQuestion } from './plan.ts';
import { newJob } from './submission.ts';

export class Clients {
  readonly #world: World;
  readonly #clients = new Map<string, JobsClient>();
  #calls = 0;
  #open = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Calls that have not been answered yet. */
  get open(): number {
    return this.#open;
  }

  async connect(to: string): Promise<void> {
    const client = `client-${this.#clients.size + 1}`;
    const { clock, network } = this.#world;
    const random = this.#world.random(client);
    const transport = network.join(client);
    this.#clients.set(to, await connectClient({ client, to, transport, clock, random }));
  }

  submit(job: PlannedJob): Promise<void> {
    const body = newJob(job);
    return this.#call(job.to, 'submit', job.jobId, body, async (client) => {
      const answer = await client.submit(body);
      return [answer.accepted, answer];
    });
  }

  get(to: string, jobId: string): Promise<void> {
    return this.#call(to, 'get', jobId, null, async (client) => {
      const view = await client.get(jobId);
      return [view !== undefined, view ?? null];
    });
  }

  cancel(to: string, jobId: string): Promise<void> {
    return this.#call(to, 'cancel', jobId, null, async (client) => {
      const answer = await client.cancel(jobId);
      return [answer.accepted, answer];
    });
  }

  extend(to: string, jobId: string, byMs: number, requestId?: string): Promise<void> {
    const more = { byMs, by: 'operator', ...(requestId !== undefined && { requestId }) };
    return this.#call(to, 'extend', jobId, more, async (client) => {
      const answer = await client.extend(jobId, more);
      return [answer.accepted, answer];
    });
  }

  ask(to: string, question: ServiceQuestion): Promise<void> {
    const jobId = 'jobId' in question ? question.jobId : '';
    return this.#call(to, question.kind, jobId, question, async (client) => {
      const answer = await answerTo(question, client);
      return [answer !== undefined, answer ?? null];
    });
  }

  async #call(
    to: string,
    request: CallFact['request'],
    jobId: string,
    body: unknown,
    ask: (client: JobsClient) => Promise<readonly [isAccepted: boolean, answer: unknown]>,
  ): Promise<void> {
    const client = this.#clients.get(to);
    if (client === undefined) throw new Error(`No client is connected to "${to}".`);
    this.#calls += 1;
    this.#open += 1;
    const call = `call-${this.#calls}`;
    const { history } = this.#world;
    const node = `client-${[...this.#clients.keys()].indexOf(to) + 1}`;
    history.add(node, { type: 'call', call, to, request, jobId, subject: jobId, body });
    const tell = (outcome: AnswerFact['outcome'], about: unknown): void => {
      this.#open -= 1;
      history.add(node, { type: 'answer', call, outcome, about });
    };
    try {
      const [isAccepted, answer] = await ask(client);
      tell(isAccepted ? 'ok' : 'refused', answer);
    } catch (thrown) {
      if (!(thrown instanceof RuntimeError)) throw thrown;
      const { code, message, retryable } = thrown;
      tell(retryable ? 'unknown' : 'refused', { code, message });
    }
  }
}

async function answerTo(question: ServiceQuestion, client: JobsClient): Promise<unknown> {
  switch (question.kind) {
    case 'list': {
      const { kind: _, ...filters } = question;
      return client.list(filters);
    }
    case 'stuck':
      return client.stuckWorkflows(question.thresholdMs);
    case 'sinceProgress':
      return client.timeSinceProgress(question.jobId, question.workflowId);
    case 'workers':
      return client.workers();
    case 'watch': {
      const watching = client.watch(question.jobId, { seenSeq: question.seenSeq });
      return (await watching.next()).value;
    }
  }
}
