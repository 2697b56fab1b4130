/**
 * Gate API: the gate's HTTP API as the demo uses it.
 *
 * Every request has a time limit, and connections are kept. What did not get an answer that counts
 * (nobody listens, the gate is not ready) is `GateAway`: ask again. Any other answer but the wanted
 * one is a mistake and throws.
 */

import { Agent, type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import type {
  CancelAnswer,
  JobPage,
  JobView,
  SubmissionAnswer,
} from '../machines/jobs/messages/client.ts';
import type { JobStatus } from '../machines/jobs/words.ts';
import type { NewJob } from '../programs/jobs/client.ts';

/** The gate cannot be asked now. */
export class GateAway extends Error {}

const ANSWER_LIMIT_MS = 10_000;
const CONNECTIONS_MAX = 8;
/** Answers of a gate that starts, stops or waits; the last two are of whatever is too busy. */
const AWAY: ReadonlySet<number> = new Set([503, 504, 429]);

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export class GateApi {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
  readonly #urlOf: () => string | undefined;

  /** `urlOf` says where the gate is now; it may be elsewhere after a restart. */
  constructor(urlOf: () => string | undefined) {
    this.#urlOf = urlOf;
  }

  /** The same job again is no harm. */
  async submit(job: NewJob): Promise<SubmissionAnswer> {
    const answer = await this.#ask('POST', '/v1/jobs', job);
    return wanted(answer, [200, 201]) as SubmissionAnswer;
  }

  /** Undefined when there is none. */
  async get(jobId: string): Promise<JobView | undefined> {
    const answer = await this.#ask('GET', `/v1/jobs/${encodeURIComponent(jobId)}`);
    return answer.status === 404 ? undefined : (wanted(answer, [200]) as JobView);
  }

  /** All jobs with the status, page by page, at most `max`. */
  async list(status: JobStatus, max: number): Promise<readonly JobView[]> {
    const jobs: JobView[] = [];
    let cursor: string | null = null;
    do {
      const query = new URLSearchParams({ status, limit: '200', ...(cursor && { cursor }) });
      const answer = await this.#ask('GET', `/v1/jobs?${query}`);
      const page = wanted(answer, [200]) as JobPage;
      jobs.push(...page.jobs);
      cursor = page.cursor;
    } while (cursor !== null && jobs.length < max);
    return jobs;
  }

  async cancel(jobId: string): Promise<CancelAnswer> {
    const path = `/v1/jobs/${encodeURIComponent(jobId)}/cancel`;
    const answer = await this.#ask('POST', path, {});
    // 409: it has ended before.
    return wanted(answer, [200, 202, 409]) as CancelAnswer;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #ask(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
    const url = this.#urlOf();
    if (url === undefined) throw new GateAway('The gate is not there.');
    const answer = await exchange(new URL(path, url), method, body, this.#agent);
    if (AWAY.has(answer.status)) throw new GateAway(`The gate answers ${answer.status}.`);
    return answer;
  }
}

function exchange(
  url: URL,
  method: string,
  body: object | undefined,
  agent: Agent,
): Promise<Answer> {
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  return new Promise((resolve, reject) => {
    const away = (error: Error): void => reject(new GateAway(error.message));
    const asked = request(
      url,
      {
        method,
        agent,
        signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
        headers: bytes && {
          'content-type': 'application/json',
          'content-length': bytes.length,
        },
      },
      (response: IncomingMessage) => {
        const status = response.statusCode ?? 0;
        json(response).then((value) => resolve({ status, body: value }), away);
      },
    );
    asked.on('error', away);
    asked.end(bytes);
  });
}

function wanted({ status, body }: Answer, statuses: readonly number[]): unknown {
  if (statuses.includes(status)) return body;
  throw new Error(`The gate answers ${status}: ${JSON.stringify(body).slice(0, 300)}`);
}
