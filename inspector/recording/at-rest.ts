/**
 * Start of the page in a single file: it answers the page's questions from the recording in the same file, where a
 * server would. It runs before the page, takes the place of `fetch` and `EventSource`, and asks nothing of anybody.
 */

import { type Parameters, textOf } from '../lookup.ts';
import type { Watch } from '../protocol.ts';
import { Recorded, readLines } from './recorded.ts';
import { parametersIn, Resting } from './resting.ts';
import { testFileOf } from './test-file.ts';

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
const lines = readLines(JSON.parse(text) as string);
const resting = new Resting(new Recorded(lines), 'recording');
let told: ((message: Message) => void) | undefined;

browser.fetch = async (target: string, init: { readonly body?: string } = {}): Promise<unknown> => {
  const [path = '', query = ''] = target.replace(/^.*?api\//, '').split('?', 2);
  if (path === 'watch') {
    const frames = await resting.frames(JSON.parse(init.body ?? '{}') as Watch);
    for (const frame of frames) told?.({ data: JSON.stringify(frame) });
    return new browser.Response(null, { status: 204 });
  }
  const parameters = parametersIn(new URLSearchParams(query));
  if (path === 'test') return testFile(parameters);
  const answer = await resting.query(path, parameters);
  const error = refusal('This file has no answer to that: it is a recording.');
  const shape = {
    status: answer === undefined ? 404 : 200,
    headers: { 'content-type': 'application/json' },
  };
  return new browser.Response(JSON.stringify(answer ?? error), shape);
};

const refusal = (message: string): object => ({ error: { code: 'NOT_ALLOWED', message } });

function testFile(parameters: Parameters): unknown {
  const turn = textOf(parameters, 'turn');
  try {
    const address = textOf(parameters, 'address') ?? '';
    const file = testFileOf(lines, address, turn === undefined ? undefined : Number(turn));
    return new browser.Response(file.text, { status: 200 });
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new browser.Response(JSON.stringify(refusal(message)), { status: 400 });
  }
}

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
