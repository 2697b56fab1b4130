/**
 * Start of the page in a single file: it answers the page's questions from the recording in the same file, where a
 * server would. It runs before the page, takes the place of `fetch` and `EventSource`, and asks nothing of anybody.
 */

import type { Watch } from '../protocol.ts';
import { Recorded, readLines } from './recorded.ts';
import { parametersIn, Resting } from './resting.ts';

interface Message {
  readonly data: string;
}

/** Part of a browser that is used and replaced. */
interface Browser {
  readonly document: { getElementById(id: string): { readonly textContent: string | null } | null };
  readonly Response: new (body: string | null, init: object) => unknown;
  fetch: unknown;
  EventSource: unknown;
}

const browser = globalThis as unknown as Browser;
const text = browser.document.getElementById('escapement-recording')?.textContent ?? '';
const resting = new Resting(new Recorded(readLines(JSON.parse(text) as string)), 'recording');
let told: ((message: Message) => void) | undefined;

browser.fetch = async (target: string, init: { readonly body?: string } = {}): Promise<unknown> => {
  const [path = '', query = ''] = target.replace(/^.*?api\//, '').split('?', 2);
  if (path === 'watch') {
    const frames = await resting.frames(JSON.parse(init.body ?? '{}') as Watch);
    for (const frame of frames) told?.({ data: JSON.stringify(frame) });
    return new browser.Response(null, { status: 204 });
  }
  const answer = await resting.query(path, parametersIn(new URLSearchParams(query)));
  const error = {
    error: { code: 'NOT_ALLOWED', message: 'This file has no answer to that: it is a recording.' },
  };
  const shape = {
    status: answer === undefined ? 404 : 200,
    headers: { 'content-type': 'application/json' },
  };
  return new browser.Response(JSON.stringify(answer ?? error), shape);
};

browser.EventSource = class {
  static readonly CLOSED = 2;
  readonly readyState = 1;
  onerror: unknown;

  set onmessage(hear: (message: Message) => void) {
    told = hear;
    const opened = { at: resting.now(), type: 'opened', stream: 'at-rest', hello: resting.hello() };
    queueMicrotask(() => hear({ data: JSON.stringify(opened) }));
  }

  close(): void {
    told = undefined;
  }
};
