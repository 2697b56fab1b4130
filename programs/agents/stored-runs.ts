/**
 * Stored runs: what is on record of runs, tasks, attempts and questions, read from the store itself.
 *
 * It reads committed records only, so it sees the same beside a process at work and after it.
 */

import { join } from 'node:path';
import {
  agentAddress,
  delegationAddress,
  orchestrationAddress,
  taskAddress,
} from '../../machines/agents/addresses.ts';
import type { AgentContext } from '../../machines/agents/agent/context.ts';
import type { DelegationContext } from '../../machines/agents/delegation/context.ts';
import type { OrchestrationContext } from '../../machines/agents/orchestration.ts';
import type { TaskContext } from '../../machines/agents/task.ts';
import { Table } from '../../runtime/machine.ts';
import { openStored, type StoredActor, StoredActors, type StoreReader } from '../runs.ts';
import { RunFolder } from './run-folder.ts';

export type StoredRun = StoredActor<OrchestrationContext>;

export const PLACE = 'agents';

/** Folder of the store and of the runs in a data directory, which may have other systems in it. */
export const folderOf = (data: string): string => join(data, 'agents');

const RUN_TABLES = ['tasks', 'live', 'delegations', 'questions'] as const;
/** What `--new` adds to the id of a run that was there before. */
const GENERATION = '~';

export class StoredRuns {
  readonly #actors: StoredActors;

  constructor(store: StoreReader) {
    this.#actors = new StoredActors(store, PLACE);
  }

  run(runId: string): StoredRun | undefined {
    return this.#read<OrchestrationContext>(orchestrationAddress(runId), RUN_TABLES);
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
    const found = [...this.#actors.addresses('orchestration')].flatMap(
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

  delegation(runId: string, id: string): StoredActor<DelegationContext> | undefined {
    return this.#read(delegationAddress(runId, id), []);
  }

  #read<TContext>(address: string, tables: readonly string[]): StoredActor<TContext> | undefined {
    const found = this.#actors.read<TContext>(address);
    if (found === undefined) return undefined;
    const read = tables.map((name) => [name, Table.of(this.#actors.rows(address, name))]);
    return { ...found, context: { ...found.context, ...Object.fromEntries(read) } };
  }
}

export interface StoredData {
  readonly stored: StoredRuns;
  folder(runId: string): RunFolder;
  close(): Promise<void>;
}

/** Opens a directory to look at it only, also beside a process at work. One without data has no runs. */
export async function openStoredData(data: string): Promise<StoredData> {
  const directory = folderOf(data);
  const { store, close } = await openStored(directory);
  const folder = (runId: string): RunFolder => new RunFolder(directory, runId);
  return { stored: new StoredRuns(store), folder, close };
}
