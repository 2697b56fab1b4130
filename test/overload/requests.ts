/**
 * Requests to one node at a rate that does not wait for answers, as clients of many would come.
 *
 * Connections are kept alive and bounded; a request that finds none free waits for one, and its
 * time counts. Nothing is thrown: no answer is an answer of status 0.
 */

import { Agent, request } from 'node:http';

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

const LIMIT_MS = 30_000;
const CONNECTIONS_MAX = 256;

export class Requests {
  readonly #url: string;
  readonly #token: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });

  /** All of one client, which is known by its token. */
  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  ask(method: 'GET' | 'POST', path: string, body?: object): Promise<Answered> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const nothing = { status: 0, headers: {}, body: null };
    return new Promise((resolve) => {
      const asking = request(
        new URL(path, this.#url),
        {
          method,
          agent: this.#agent,
          timeout: LIMIT_MS,
          headers: {
            authorization: `Bearer ${this.#token}`,
            ...(text !== undefined && { 'content-type': 'application/json' }),
          },
        },
        (response) => {
          let said = '';
          response.setEncoding('utf8').on('data', (part) => {
            said += part;
          });
          response.on('error', () => resolve(nothing));
          response.on('end', () => {
            const { statusCode: status = 0, headers } = response;
            resolve({ status, headers, body: parsed(said) });
          });
        },
      );
      asking.on('timeout', () => asking.destroy());
      asking.on('error', () => resolve(nothing));
      asking.end(text);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
