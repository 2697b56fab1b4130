/**
 * A runtime with kinds of its own on a real port and a directory, for one test at a time.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, inject } from 'vitest';
import { lmdbStore } from '../../../stores/lmdb.ts';
import { hostileMachine } from '../drawing/hostile-machine.ts';
import { type Inspected, inspected, orderMachine } from '../server/inspected.ts';

export interface OwnRuntime {
  spawn(address: string, options?: object): Promise<unknown>;
  actor(address: string): { send(event: object): Promise<void> };
}

export class OwnNode {
  /** A folder for the files of one test file. */
  folder = '';
  #node: Inspected | undefined;
  #directories = 0;

  constructor() {
    beforeAll(() => {
      this.folder = mkdtempSync(join(tmpdir(), 'escapement-page-'));
    });
    afterEach(() => this.#node?.close());
    afterAll(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  async start(options: Parameters<typeof inspected>[0] = {}): Promise<OwnRuntime> {
    this.#directories += 1;
    this.#node = await inspected({ pageFolder: inject('pageFolder'), ...options }, {
      kinds: { order: orderMachine, hostile: hostileMachine },
      store: lmdbStore(join(this.folder, String(this.#directories))),
    } as never);
    return this.#node.runtime as unknown as OwnRuntime;
  }

  get inspected(): Inspected {
    if (this.#node === undefined) throw new Error('No node was started.');
    return this.#node;
  }

  /** Address of a view of the page. */
  at(view = ''): string {
    return `http://127.0.0.1:${this.inspected.port}/${view}`;
  }
}

/** View of an order. */
export const order = (key: string): string =>
  `#/actor/${encodeURIComponent(`order/${key}@node-1`)}`;
