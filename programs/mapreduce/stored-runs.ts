/**
 * Stored runs: what is on record of runs, agents and failed items, read from the store itself.
 *
 * It reads committed records only, so it sees the same beside a runner at work and after it.
 */

import type { FailedItemContext } from '../../machines/mapreduce/failed-item.ts';
import type { MapAgentContext } from '../../machines/mapreduce/map-agent.ts';
import type { ItemRow, RunContext } from '../../machines/mapreduce/run/context.ts';
import { type StoredActor, StoredActors, type StoreReader } from '../runs.ts';

/** A run without its tables, which are read row by row. */
export type StoredRun = StoredActor<Omit<RunContext, 'items' | 'retries' | 'agents' | 'recording'>>;

export type RunStatus = 'running' | 'completed' | 'failed' | 'interrupted';

export const PLACE = 'mapreduce';

const OVER: ReadonlySet<unknown> = new Set<RunStatus>(['completed', 'failed', 'interrupted']);

/** True of the state of a run that has come to an end, for good or to be resumed. */
export const isOver = (state: unknown): state is RunStatus => OVER.has(state);

export class StoredRuns {
  readonly #actors: StoredActors;

  constructor(store: StoreReader) {
    this.#actors = new StoredActors(store, PLACE);
  }

  run(runId: string): StoredRun | undefined {
    return this.#actors.read(`mapreduce/${runId}`);
  }

  /** In the order of their starts. */
  runs(): readonly StoredRun[] {
    const found = [...this.#actors.all<StoredRun['context']>('mapreduce')];
    return found.sort((a, b) => a.context.startedAt - b.context.startedAt);
  }

  /** Rows of the items that were begun, by index. */
  items(runId: string): ReadonlyMap<number, ItemRow> {
    const rows = this.#actors.rows(`mapreduce/${runId}`, 'items');
    return new Map(Array.from(rows, ([index, row]) => [Number(index), row as ItemRow]));
  }

  agent(runId: string, agentId: string): StoredActor<MapAgentContext> | undefined {
    return this.#actors.read(`map-agent/${runId}/${agentId}`);
  }

  agents(runId: string): Iterable<StoredActor<MapAgentContext>> {
    return this.#actors.all('map-agent', { prefix: `${runId}/` });
  }

  /** Runs at work. */
  *live(): Iterable<StoredRun> {
    for (const tag of ['active', 'stopping'])
      yield* this.#actors.all<StoredRun['context']>('mapreduce', { tag });
  }

  /** Agents of a run that have not ended. */
  *activeAgents(runId: string): Iterable<StoredActor<MapAgentContext>> {
    for (const [agentId] of this.#actors.rows(`mapreduce/${runId}`, 'agents')) {
      const found = this.agent(runId, agentId);
      if (found !== undefined) yield found;
    }
  }

  get failedItemCount(): number {
    let count = 0;
    for (const _ of this.#actors.addresses('failed-item', { state: 'listed' })) count += 1;
    return count;
  }

  failedItems(): Iterable<StoredActor<FailedItemContext>> {
    return this.#actors.all('failed-item', { state: 'listed' });
  }

  isListed(address: string): boolean {
    return this.#actors.stateOf(address) === 'listed';
  }
}

export function statusOf({ state }: StoredRun): RunStatus {
  return isOver(state) ? state : 'running';
}
