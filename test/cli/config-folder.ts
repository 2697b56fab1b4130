/** `escapement config …` in this process, over files of a folder of its own. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { Host } from '../../cli/node/host.ts';
import { type Ended, escapement } from './command-line.ts';

/** What a manager needs, and nothing else. */
export const GOOD = 'datacenter: A\n';

export class ConfigFolder {
  path = '';
  #files = 0;

  constructor() {
    beforeAll(() => {
      this.path = mkdtempSync(join(tmpdir(), 'escapement-config-'));
    });
    afterAll(() => rmSync(this.path, { recursive: true, force: true }));
  }

  /** Returns the name of the file. */
  write(text: string | Uint8Array, mode = 0o600): string {
    this.#files += 1;
    const name = `file-${this.#files}.yml`;
    writeFileSync(join(this.path, name), text, { mode });
    return name;
  }

  config(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    cwd = this.path,
  ): Promise<Ended> {
    const host = { cwd: () => cwd, env, execArgv: [] } as unknown as Host;
    return escapement(['config', ...args], { host, env });
  }

  /** Of a manager with this file. */
  check(text: string | Uint8Array, env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return this.config(['check', 'manager', '--config', this.write(text)], env);
  }
}
