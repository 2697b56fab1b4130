/**
 * Built-in handler `shell`: runs a command of the payload. Only where a worker allows it.
 *
 * The payload is a line for `/bin/sh`, or `{"command": "ls", "args": ["-l"], "cwd": "…"}`, which no
 * shell sees. What it prints is the result, the first 64 KiB of it; an exit other than 0 is a failure
 * with the end of what it printed on standard error. It runs in a process group of its own: when the
 * run is to stop, the whole group gets SIGTERM, and SIGKILL after the grace. Of the worker's environment
 * it gets what shell-environment.ts passes on.
 */

import { type ChildProcess, spawn } from 'node:child_process';
// The only way to reach a process group, and what a child would get of itself; nothing else is touched.
import { env, kill } from 'node:process';
import type { Readable } from 'node:stream';
import { PAYLOAD_BYTES_MAX } from '../../../machines/jobs/messages/fields.ts';
import { excerpt } from '../../../runtime/base/errors.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import type { Handler } from './handlers.ts';
import { environmentOf } from './shell-environment.ts';

/** One more character than a result may have, so that a longer one is marked. */
const OUTPUT_BYTES_MAX = PAYLOAD_BYTES_MAX + 4;
const ERROR_BYTES_MAX = 4_096;
/** Time after its exit for which the group's other processes may hold the output open. */
const OUTPUT_GRACE_MS = 1_000;

interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
}

/** `variables`: names of those that commands get besides the usual ones. */
export function shellHandler(
  clock: Clock,
  graceMs: number,
  variables: readonly string[] = [],
): Handler {
  return async ({ payload, signal }) => {
    if (signal.aborted) throw signal.reason;
    const { command, args, cwd } = parsed(payload);
    const child = spawn(command, args, {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environmentOf(env, variables),
      ...(cwd !== undefined && { cwd }),
    });
    const output = firstBytes(child.stdout as Readable);
    const errors = lastBytes(child.stderr as Readable);
    let cancelKill = (): void => {};
    const stop = (): void => {
      signalGroup(child, 'SIGTERM');
      cancelKill = clock.schedule(clock.now() + graceMs, () => signalGroup(child, 'SIGKILL'));
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      const { code, killedBy } = await exitOf(child, clock);
      if (signal.aborted) throw signal.reason;
      if (code === 0) return output();
      const how = killedBy === null ? `exit code ${code}` : `signal ${killedBy}`;
      const detail = [how, errors().trim()].filter((part) => part !== '').join(': ');
      throw failure('exit', detail, true);
    } finally {
      signal.removeEventListener('abort', stop);
      cancelKill();
      // What is left of the group has nobody to work for.
      signalGroup(child, 'SIGKILL');
    }
  };
}

function parsed(payload: string): Command {
  if (!payload.trimStart().startsWith('{'))
    return { command: '/bin/sh', args: ['-c', payload], cwd: undefined };
  let given: unknown;
  try {
    given = JSON.parse(payload);
  } catch {
    given = undefined;
  }
  const { command, args = [], cwd } = (given ?? {}) as Record<string, unknown>;
  const isText = (value: unknown): value is string => typeof value === 'string';
  if (isText(command) && Array.isArray(args) && args.every(isText) && (!cwd || isText(cwd)))
    return { command, args, cwd: isText(cwd) ? cwd : undefined };
  const what = `"shell" takes a command line, or {"command": …, "args": […]}; got ${excerpt(payload)}.`;
  throw failure('payloadInvalid', what, false);
}

function exitOf(
  child: ChildProcess,
  clock: Clock,
): Promise<{ readonly code: number | null; readonly killedBy: string | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(failure('spawn', error.message, true)));
    child.once('close', (code, killedBy) => resolve({ code, killedBy }));
    child.once('exit', (code, killedBy) => {
      clock.schedule(clock.now() + OUTPUT_GRACE_MS, () => {
        child.stdout?.destroy();
        child.stderr?.destroy();
        resolve({ code, killedBy });
      });
    });
  });
}

function signalGroup({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    kill(-pid, signal);
  } catch {
    // Nobody is left in the group.
  }
}

function firstBytes(stream: Readable): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    if (size < OUTPUT_BYTES_MAX) chunks.push(chunk.subarray(0, OUTPUT_BYTES_MAX - size));
    size += chunk.length;
  });
  return () => Buffer.concat(chunks).toString();
}

function lastBytes(stream: Readable): () => string {
  let tail = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-ERROR_BYTES_MAX);
  });
  return () => tail.toString();
}

function failure(code: string, detail: string, retryable: boolean): Error {
  return Object.assign(new Error(detail), { code, retryable });
}
