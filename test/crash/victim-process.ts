/**
 * One incarnation of the victim: started, heard, killed.
 *
 * It is over when its channel has been read to the end, not when the process is gone: what the
 * victim said before it was killed may still be in the channel, and counts.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { compiledProgram } from '../kit/compiled.ts';
import type { ChannelTransport } from './channel-transport.ts';
import type { ChannelMessage } from './places.ts';

const PROGRAM = 'test/crash/victim.ts';
/** Lines on standard error that are kept for the message about an end that nobody wanted. */
const ERROR_LENGTH_MAX = 4_000;

export interface VictimOptions {
  readonly directory: string;
  readonly node: string;
  readonly transport: ChannelTransport;
  readonly plant: string | undefined;
}

export class VictimProcess {
  readonly startedAt = performance.now();
  /** Resolves with the fence under which it hosts; rejects when it ends before. */
  readonly hosts: Promise<number>;
  /** Resolves with how it ended: an exit code, or the name of a signal. */
  readonly over: Promise<number | string>;
  readonly #child: ChildProcess;
  #errors = '';

  constructor({ directory, node, transport, plant }: VictimOptions) {
    const argv = [directory, node, ...(plant === undefined ? [] : [`--plant=${plant}`])];
    const child = fork(compiledProgram(PROGRAM), argv, {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child = child;
    child.stderr?.on('data', (text) => {
      this.#errors = `${this.#errors}${text}`.slice(-ERROR_LENGTH_MAX);
    });
    const exited = new Promise<number | string>((resolve) => {
      child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'));
    });
    const emptied = new Promise<void>((resolve) => {
      child.once('disconnect', () => {
        transport.detach(node);
        resolve();
      });
    });
    this.over = emptied.then(() => exited);
    this.hosts = new Promise((resolve, reject) => {
      child.on('message', ({ frame, fence }: ChannelMessage) => {
        if (frame !== undefined) transport.receive(node, frame);
        if (fence !== undefined) resolve(fence);
      });
      void exited.then((ending) => reject(this.unwanted(ending)));
    });
    // Anybody who waits for something else hears of the end there.
    this.hosts.catch(() => {});
    transport.attach(node, (frame) => this.#post({ frame }));
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  stop(): void {
    this.#post({ isStop: true });
  }

  /** The error for an end that was not the rig's doing. */
  unwanted(ending: number | string): Error {
    return new Error(`The victim ended by itself (${ending}): ${this.#errors.trim()}`);
  }

  #post(message: ChannelMessage): void {
    // The callback takes the error of a channel that closes meanwhile.
    this.#child.send(message, () => {});
  }
}
