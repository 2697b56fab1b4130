/**
 * Stored runs: what is on record of runs, tasks, attempts and questions, read from the store itself.
 *
 * It reads committed records only, so it sees the same beside a process at work and after it.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  agentAddress,
  orchestrationAddress,
  taskAddress,
} from '../../machines/agents/addresses.ts';
import type { AgentContext } from '../../machines/agents/agent/context.ts';
import type { OrchestrationContext } from '../../machines/agents/orchestration.ts';
import type { TaskContext } from '../../machines/agents/task.ts';
import { Table } from '../../runtime/machine.ts';
import type { Store } from '../../runtime/ports/store.ts';
import { storedRows } from '../../runtime/statechart.ts';
import { lmdbStore } from '../../stores/lmdb.ts';
import { RunFolder } from './run-folder.ts';

type Reading = Pick<Store, 'load' | 'rows' | 'query' | 'entry'>;

export interface StoredActor<TContext> {
  readonly address: string;
  /** `running`, or JSON of a nested state. */
  readonly state: string;
  readonly context: TContext;
}

export type StoredRun = StoredActor<OrchestrationContext>;

export const PLACE = 'agents';

/** Folder of the store and of the runs in a data directory, which may have other systems in it. */
export const folderOf = (data: string): string => join(data, 'agents');

const RUN_TABLES = ['tasks', 'live', 'delegations', 'questions'] as const;
/** What `--new` adds to the id of a run that was there before. */
const GENERATION = '~';
const ROWS_AT_ONCE_MAX = 500;

export class StoredRuns {
  readonly #store: Reading;

  constructor(store: Reading) {
    this.#store = store;
  }

  run(runId: string): StoredRun | undefined {
    const found = this.#read<OrchestrationContext>(orchestrationAddress(runId), RUN_TABLES);
    return found;
  }

  /** The last run of that name, or the one of that id. */
  named(name: string): StoredRun | undefined {
    let found = this.run(name);
    for (let number = 2; found !== undefined; number++) {
      const next = this.run(`${name}${GENERATION}${number}`);
      if (next === undefined) return found;
      found = next;
    }
    return found;
  }

  /** Id for one more run of that name. */
  freshId(name: string): string {
    if (this.run(name) === undefined) return name;
    let number = 2;
    while (this.run(`${name}${GENERATION}${number}`) !== undefined) number += 1;
    return `${name}${GENERATION}${number}`;
  }

  /** In the order of their starts. */
  runs(): readonly StoredRun[] {
    const found = [...this.#addresses('orchestration')].flatMap(
      (address) => this.#read<OrchestrationContext>(address, RUN_TABLES) ?? [],
    );
    return found.sort((a, b) => a.context.startedAt - b.context.startedAt);
  }

  task(runId: string, taskId: string): StoredActor<TaskContext> | undefined {
    return this.#read(taskAddress(runId, taskId), ['history']);
  }

  agent(runId: string, attemptId: string): StoredActor<AgentContext> | undefined {
    return this.#read(agentAddress(runId, attemptId), []);
  }

  *#addresses(kind: string): Iterable<string> {
    let after = `${kind}/`;
    for (;;) {
      const page = this.#store.query({ kind, after, limit: ROWS_AT_ONCE_MAX });
      for (const [address] of page.rows) yield address;
      if (page.cursor === undefined) return;
      after = page.cursor;
    }
  }

  #read<TContext>(given: string, tables: readonly string[]): StoredActor<TContext> | undefined {
    const address = given.includes('@') ? given : `${given}@${PLACE}`;
    const text = this.#store.load(address);
    const entry = this.#store.entry(address);
    if (text === undefined || entry === undefined) return undefined;
    const record = JSON.parse(text) as { readonly snapshot: { readonly context: object } };
    const beside = tables.length === 0 ? [] : [...this.#store.rows(address)];
    const read = Object.fromEntries(
      tables.map((name) => [name, Table.of(storedRows(text, beside, name))]),
    );
    const context = { ...record.snapshot.context, ...read } as TContext;
    return { address, state: entry.state, context };
  }
}

export interface StoredData {
  readonly stored: StoredRuns;
  folder(runId: string): RunFolder;
  close(): Promise<void>;
}

const NOTHING = {
  load: () => undefined,
  entry: () => undefined,
  rows: () => [],
  query: () => ({ rows: [] }),
};

/** Opens a directory to look at it only, also beside a process at work. One without data has no runs. */
export async function openStoredData(data: string): Promise<StoredData> {
  const directory = folderOf(data);
  const folder = (runId: string): RunFolder => new RunFolder(directory, runId);
  if (!existsSync(join(directory, 'data.mdb')))
    return { stored: new StoredRuns(NOTHING), folder, close: async () => {} };
  const store = lmdbStore(directory, { isReadOnly: true });
  await store.open();
  return { stored: new StoredRuns(store), folder, close: () => store.close() };
}
