/**
 * A datacenter behind a server, for requests that have to be refused: after each test no jobs service has
 * heard of any, and the server still works.
 */

import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { type Manager, startManager } from '../../programs/jobs/index.ts';
import { close, type Endpoint, listen } from './served.ts';

export interface Unheard {
  readonly manager: Manager;
  readonly at: Endpoint;
}

/** To be called once in a file; what it gives is there when tests run. */
export function unheard(): Unheard {
  let manager: Manager;
  let at: Endpoint;
  let questions = 0;
  beforeAll(async () => {
    manager = await startManager({ datacenter: 'A' });
    at = await listen(manager);
    await at.body('/v1/jobs');
    manager.runtime.inspect((record) => {
      const isHeard = record.type === 'turn' || record.type === 'question';
      if (isHeard && record.address.startsWith('desk/')) questions += 1;
    });
    await at.body('/v1/jobs');
    expect(questions, 'a question that is heard').toBe(1);
    questions = 0;
  });
  afterEach(async () => {
    expect(questions, 'no jobs service has heard of it').toBe(0);
    expect(await at.body('/livez')).toMatchObject({ status: 200 });
  });
  afterAll(async () => {
    await close(at.server, at.handler);
    await manager.stop();
  });
  return {
    get manager() {
      return manager;
    },
    get at() {
      return at;
    },
  };
}

/** The head of a request. */
export const head = (line: string, ...more: string[]): string =>
  `${[`${line} HTTP/1.1`, 'host: localhost', ...more].join('\r\n')}\r\n\r\n`;

export const codeIn = (body: string): string => JSON.parse(body).error.code;
