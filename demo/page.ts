/**
 * Page of the demo: the inspector of the gate at an address that stays, whatever happens to the gate, with the demo's
 * story, tour and faults added.
 *
 *   Host, Origin ─▶ the page's files, from here | `fault`, done here | everything else, asked of the gate
 *
 * Guarantees: it listens on this machine alone, and lets in what an inspector would let in; it changes nothing in the
 * gate's answers but what the page is told it can do.
 */

import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { Origins } from '../http/origins.ts';
import { HttpRefusal } from '../http/refusal.ts';
import { ALWAYS, sendJson } from '../inspector/answers.ts';
import { jsonBody } from '../inspector/body.ts';
import type { InspectorHandler } from '../inspector/mount.ts';
import type { CommandAnswer, Frame, Hello } from '../inspector/protocol.ts';
import { readPage } from '../inspector/static-files.ts';

export interface PageSetup {
  /** URL of the gate; undefined while it is away. */
  gateUrl(): string | undefined;
  /** Somebody opens the page. */
  opened(): void;
  /** View on which the page opens. */
  start(): string | undefined;
  /** Carries out a fault by its name; undefined when there is none of that name. */
  fault(name: string): { readonly isDone: boolean; readonly text: string } | undefined;
}

export function pageHandler(setup: PageSetup): InspectorHandler {
  const origins = new Origins([], true);
  const page = readPage();
  const answer = async (call: IncomingMessage, response: ServerResponse): Promise<void> => {
    origins.check(call);
    const [path = '/'] = (call.url ?? '/').split('?', 1);
    if (path === '/api/command' && call.method === 'POST') return command(setup, call, response);
    if (path.startsWith('/api/')) return relay(setup, call, response, undefined);
    if (path === '/') setup.opened();
    const file = page.get(path === '/' ? 'index.html' : path.slice(1));
    if (file === undefined) throw new HttpRefusal('notFound', 'There is nothing here.');
    response.writeHead(200, { ...ALWAYS, 'content-type': file.type, 'cache-control': 'no-cache' });
    response.end(call.method === 'HEAD' ? undefined : file.body);
  };
  const handler = (call: IncomingMessage, response: ServerResponse): void => {
    response.on('error', () => {});
    answer(call, response).catch((thrown: unknown) => {
      if (response.headersSent) response.destroy();
      else if (thrown instanceof HttpRefusal)
        sendJson(response, thrown.status, thrown.toJSON(), 'no-store', thrown.headers);
      else away(response, thrown);
    });
  };
  return Object.assign(handler, { close: () => {} });
}

async function command(setup: PageSetup, call: IncomingMessage, response: ServerResponse) {
  const body = (await jsonBody(call)) as { readonly type?: unknown; readonly name?: unknown };
  if (body.type !== 'fault') return relay(setup, call, response, JSON.stringify(body));
  const { isDone, text } = setup.fault(String(body.name)) ?? {
    isDone: false,
    text: 'The demo knows no such fault.',
  };
  const outcome = isDone ? 'taken' : 'refused';
  sendJson(response, 200, { at: Date.now(), outcome, why: text } satisfies CommandAnswer);
}

/** `body`: what has been read of it already. */
function relay(
  { gateUrl, start }: PageSetup,
  call: IncomingMessage,
  response: ServerResponse,
  body: string | undefined,
): void {
  const gate = gateUrl();
  if (gate === undefined) {
    away(response);
    return;
  }
  const url = new URL(`/inspector${call.url ?? '/'}`, gate);
  const { host: _host, origin, 'content-length': length, ...rest } = call.headers;
  const headers = {
    ...rest,
    ...(origin !== undefined && { origin: url.origin }),
    ...(body === undefined
      ? length !== undefined && { 'content-length': length }
      : { 'content-length': String(Buffer.byteLength(body)) }),
  };
  const asked = request(url, { method: call.method ?? 'GET', headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    if (call.url?.startsWith('/api/stream') === true) tell(answer, response, start);
    else answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  asked.on('error', (error) => (response.headersSent ? response.destroy() : away(response, error)));
  response.on('close', () => asked.destroy());
  if (body === undefined) call.pipe(asked);
  else asked.end(body);
}

/** Frames of a stream, of which the first says what the page can do. */
function tell(answer: IncomingMessage, response: ServerResponse, start: PageSetup['start']): void {
  let head: string | undefined = '';
  answer.setEncoding('utf8');
  answer.on('data', (text: string) => {
    if (head === undefined) {
      response.write(text);
      return;
    }
    head += text;
    const end = head.indexOf('\n\n');
    if (end < 0) return;
    const frame = JSON.parse(head.slice('data: '.length, end)) as Frame;
    const changed =
      frame.type === 'opened' ? { ...frame, hello: withDemo(frame.hello, start()) } : frame;
    response.write(`data: ${JSON.stringify(changed)}${head.slice(end)}`);
    head = undefined;
  });
  answer.on('end', () => response.end());
}

function withDemo(hello: Hello, start: string | undefined): Hello {
  const capabilities = { ...hello.capabilities, faults: YES, tour: YES };
  return { ...hello, title: 'the demo', capabilities, ...(start !== undefined && { start }) };
}
const YES = { can: true } as const;

function away(response: ServerResponse, thrown?: unknown): void {
  const why = thrown instanceof Error ? `: ${thrown.message}` : '';
  const error = { code: 'notReady', message: `The gate is away${why}. It comes back by itself.` };
  sendJson(response, 503, { error });
}
