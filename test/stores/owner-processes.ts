/**
 * Starts `owner-program.ts` in processes of its own and waits for what they tell.
 */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { TellingProcess } from '../kit/telling-process.ts';
import type { ProgramOptions } from './owner-program.ts';

/** Gives a process a network or pids of its own, like a container has; needs the rights of root. */
export const UNSHARE = 'unshare';

/** Starts it with few descriptors. */
export const FEW_DESCRIPTORS = ['/bin/sh', '-c', 'ulimit -n 128; exec "$@"', 'sh'];

const PROGRAM = 'test/stores/owner-program.ts';

export interface Told {
  readonly event: string;
  readonly pid?: number;
  readonly fence?: number;
  readonly code?: string;
  readonly message?: string;
  readonly isHeld?: boolean;
}

export type ProgramRole = 'lock' | 'lease' | 'idle' | 'cluster';

/** A directory that is gone after the test. */
export function testDirectory(): string {
  const parent = mkdtempSync(join(tmpdir(), 'escapement-owner-'));
  // A lease that is released writes once more, after what it had begun.
  onTestFinished(() => eventually(() => rmSync(parent, { recursive: true, force: true })));
  const directory = join(parent, 'data');
  mkdirSync(directory);
  return directory;
}

export class OwnerProcess extends TellingProcess<Told> {
  constructor(
    role: ProgramRole,
    directory: string,
    options: ProgramOptions = {},
    wrapper: readonly string[] = [],
  ) {
    super(PROGRAM, [role, directory, JSON.stringify(options)], wrapper);
    onTestFinished(() => {
      this.signal('SIGKILL');
    });
  }

  events(): string[] {
    return this.told.map(({ event }) => event).filter((event) => event !== 'log');
  }

  /** The first, or `nth`, thing told that is called `event`. */
  async hears(event: string, nth = 1): Promise<Told> {
    return this.until(`${event} (${nth})`, () => this.#all(event)[nth - 1]);
  }

  /** The first message in the log that matches. */
  async logs(pattern: RegExp): Promise<Told> {
    return this.until(`a log of ${pattern}`, () =>
      this.#all('log').find(({ message = '' }) => pattern.test(message)),
    );
  }

  order(what: 'release' | 'exit' | 'exhaust'): void {
    this.say(what);
  }

  #all(event: string): Told[] {
    return this.told.filter((told) => told.event === event);
  }
}

export type OwnerFields = Record<string, unknown> & { readonly id: string; readonly pid: number };

export function ownerIn(directory: string): OwnerFields {
  return JSON.parse(readFileSync(join(directory, 'owner.json'), 'utf8'));
}

/** Puts a file in place that says what we like. */
export function writeOwner(directory: string, fields: Record<string, unknown>): void {
  writeFileSync(join(directory, 'owner.json'), JSON.stringify(fields));
}
