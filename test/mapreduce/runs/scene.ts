/**
 * A run with real processes, for tests: a folder of its own, a workflow, and a look at what is left after it.
 */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect } from 'vitest';
import type { RunDocument, RunEvent, RunOptions } from '../../../programs/mapreduce/index.ts';
import { runMapReduce } from '../../../programs/mapreduce/index.ts';
import { lmdbStore } from '../../../stores/lmdb.ts';
import { eventually } from '../../kit/eventually.ts';
import { skippingClock } from '../../kit/skipping-clock.ts';

/** Members of `map` and `timeout_config`; the rest of the workflow by its own keys. */
export interface Given {
  readonly map?: object;
  readonly timeout?: object;
  readonly workflow?: object;
  /** The one step, or all of them. */
  readonly shell?: string;
  readonly steps?: readonly object[];
  readonly items?: unknown;
}

export const ONLY_A = 'if [ ${item} = a ]; then sleep 60; fi';
export const ONLY_A_STUBBORN = `if [ \${item} = a ]; then trap "" TERM; while :; do sleep 0.05; done; fi`;

/** A test with a scene of its own, after which no process of it is left. */
export const test = base.extend<{ readonly scene: Scene }>({
  scene: async ({ task: _ }, use) => {
    const scene = new Scene();
    await use(scene);
    expect(scene.processesLeft()).toEqual([]);
    expect(await scene.dataLeft()).toEqual({ worktrees: [], timers: [], sockets: [] });
    scene.close();
  },
});

export class Scene {
  readonly folder = mkdtempSync(join(tmpdir(), 'escapement-mapreduce-'));
  readonly data = join(this.folder, 'data');
  readonly events: RunEvent[] = [];
  readonly warnings: string[] = [];
  readonly #time = skippingClock();

  close(): void {
    this.#time.clock.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Puts the clock of its runs forward. */
  skip(ms: number): void {
    this.#time.skip(ms);
  }

  /** Waits until there are that many events of a type, or more. */
  seen(event: string, count = 1): Promise<void> {
    return eventually(() => expect(this.eventsOf(event).length).toBeGreaterThanOrEqual(count));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  has(name: string): boolean {
    return existsSync(this.path(name));
  }

  read(name: string): string {
    return readFileSync(this.path(name), 'utf8');
  }

  /** Writes workflow and items, and gives the file. */
  write(given: Given = {}): string {
    writeFileSync(this.path('items.json'), JSON.stringify(given.items ?? ['a', 'b', 'c']));
    writeFileSync(this.path('workflow.yml'), JSON.stringify(workflowOf(given), null, 2));
    return this.path('workflow.yml');
  }

  run(given: Given | string = {}, options: RunOptions = {}): Promise<RunDocument> {
    const file = typeof given === 'string' ? given : this.write(given);
    const warn = (_: object, message: string): void => void this.warnings.push(message);
    return runMapReduce(file, {
      data: this.data,
      clock: this.#time.clock,
      onEvent: (event) => this.events.push(event),
      logger: { debug: () => {}, info: () => {}, warn, error: warn },
      ...options,
    });
  }

  eventsOf(event: string): readonly RunEvent[] {
    return this.events.filter((each) => each.event === event);
  }

  /** Processes of any attempt of this folder that live. */
  processesLeft(): readonly string[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => environmentOf(pid).includes(`\0ESCAPEMENT_ATTEMPT_MARK=${this.data}/`))
      .filter((pid) => !isZombie(pid));
  }

  /** What no run may leave in its data: worktrees, timers that are armed, a control socket. */
  async dataLeft(): Promise<object> {
    const trees = join(this.data, 'worktrees');
    const worktrees = existsSync(trees)
      ? readdirSync(trees).flatMap((run) => readdirSync(join(trees, run)))
      : [];
    const sockets = existsSync(join(this.data, 'control.json')) ? ['control.json'] : [];
    if (!existsSync(join(this.data, 'data.mdb'))) return { worktrees, timers: [], sockets };
    const store = lmdbStore(this.data, { isReadOnly: true });
    await store.open();
    const timers = [...store.entries()].flatMap(([address, { dueAt }]) =>
      dueAt === null ? [] : [address],
    );
    await store.close();
    return { worktrees, timers, sockets };
  }

  git(...args: string[]): string {
    return execFileSync('git', args, { cwd: this.folder, encoding: 'utf8' });
  }
}

function workflowOf({ map, timeout, workflow, shell, steps, items: _ }: Given): object {
  return {
    name: 'base',
    mode: 'mapreduce',
    map: {
      input: 'items.json',
      max_parallel: 1,
      timeout_config: { cleanup_grace_period_secs: 0.3, ...timeout },
      agent_template: steps ?? [{ shell: shell ?? 'true' }],
      ...map,
    },
    ...workflow,
  };
}

function environmentOf(pid: string): string {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`;
  } catch {
    return '';
  }
}

function isZombie(pid: string): boolean {
  try {
    return /^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return true;
  }
}
