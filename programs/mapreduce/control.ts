/**
 * Control of a live run: a socket of the user's own in the data directory, by which another process asks for
 * more time for an attempt. One line of JSON each way; whatever is not understood is refused.
 */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { agentAddress } from '../../machines/mapreduce/addresses.ts';
import { messageOf } from '../../runtime/base/errors.ts';
import type { Host } from './host.ts';

export interface ExtensionRequest {
  readonly agentId: string;
  readonly byMs: number;
  readonly by: string;
  readonly runId: string | undefined;
}

export interface ExtensionAnswer {
  readonly isExtended: boolean;
  readonly remainingMs?: number;
  readonly reason?: string;
}

/** Names the socket: a path in a data directory may be longer than one may have. */
const FILE = 'control.json';
const FOLDER = 'escapement-control-';
const REQUEST_LENGTH_MAX = 4_096;

export async function serveControl(host: Host): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), FOLDER));
  const path = join(folder, 'socket');
  const server = createServer((socket) => answerOn(socket, host));
  server.unref();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  writeFileSync(join(host.data, FILE), JSON.stringify({ socket: path }), { mode: 0o600 });
  return () => close(server, folder, host.data);
}

/** Takes away what a runner that was killed has left. Only the owner of the directory may. */
export function forgetControl(data: string): void {
  const file = join(data, FILE);
  if (!existsSync(file)) return;
  const left = /"socket":"([^"]*)"/.exec(readFileSync(file, 'utf8'))?.[1];
  if (left?.startsWith(join(tmpdir(), FOLDER)) === true)
    rmSync(dirname(left), { recursive: true, force: true });
  rmSync(file, { force: true });
}

function close(server: Server, folder: string, data: string): void {
  server.close();
  rmSync(folder, { recursive: true, force: true });
  rmSync(join(data, FILE), { force: true });
}

function answerOn(socket: Socket, host: Host): void {
  let text = '';
  socket.setEncoding('utf8');
  socket.on('error', () => {});
  socket.on('data', (chunk: string) => {
    text += chunk;
    const end = text.indexOf('\n');
    if (end < 0 && text.length > REQUEST_LENGTH_MAX) socket.destroy();
    if (end < 0) return;
    socket.pause();
    void answerTo(text.slice(0, end), host).then((answer) =>
      socket.end(`${JSON.stringify(answer)}\n`),
    );
  });
}

async function answerTo(line: string, host: Host): Promise<ExtensionAnswer> {
  try {
    const request = JSON.parse(line) as ExtensionRequest;
    const runId = request.runId ?? liveRunOf(host, request.agentId);
    if (runId === undefined) return { isExtended: false, reason: 'there is no such agent' };
    return await extendAttempt(host, { ...request, runId });
  } catch (thrown) {
    return { isExtended: false, reason: messageOf(thrown) };
  }
}

function liveRunOf({ stored }: Host, agentId: string): string | undefined {
  const ids = stored.runs().map(({ context }) => context.runId);
  return ids.reverse().find((runId) => stored.agent(runId, agentId)?.state.includes('"running"'));
}

/** Answered once it is committed; applied once. */
export async function extendAttempt(
  { runtime }: Host,
  { runId, agentId, byMs, by }: ExtensionRequest & { readonly runId: string },
): Promise<ExtensionAnswer> {
  const agent = runtime.actor(agentAddress(runId, agentId));
  const answer = (await agent.ask({ type: 'timeout.extend', byMs, by })) as ExtensionAnswer;
  if (answer.isExtended) return answer;
  return { isExtended: false, reason: 'its deadline has passed, or it has none' };
}

/** Asks the runner of a directory. */
export function requestExtension(
  data: string,
  request: ExtensionRequest,
): Promise<ExtensionAnswer> {
  const file = join(data, FILE);
  if (!existsSync(file))
    return Promise.resolve({ isExtended: false, reason: 'no run is live in this directory' });
  const { socket: path } = JSON.parse(readFileSync(file, 'utf8')) as { readonly socket: string };
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(path, () => socket.write(`${JSON.stringify(request)}\n`));
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () =>
      resolve({ isExtended: false, reason: 'no run is live in this directory' }),
    );
    socket.on('close', () => {
      if (text !== '') resolve(JSON.parse(text) as ExtensionAnswer);
      else resolve({ isExtended: false, reason: 'the run has ended' });
    });
  });
}
