/**
 * Stored runs: what is on record of runs, agents and failed items, read from the store itself.
 *
 * It reads committed records only, so it sees the same beside a runner at work and after it.
 */

import type { FailedItemContext } from '../../machines/mapreduce/failed-item.ts';
import type { MapAgentContext } from '../../machines/mapreduce/map-agent.ts';
import type { ItemRow, RunContext } from '../../machines/mapreduce/run/context.ts';
import type { Store } from '../../runtime/ports/store.ts';
import { storedRows } from '../../runtime/statechart.ts';

type Reading = Pick<Store, 'load' | 'rows' | 'query' | 'entry'>;

export interface StoredActor<TContext> {
  readonly address: string;
  /** `running`, or JSON of a nested state. */
  readonly state: string;
  readonly dueAt: number | null;
  readonly turnAt: number;
  readonly context: TContext;
}

/** A run without its tables, which are read row by row. */
export type StoredRun = StoredActor<Omit<RunContext, 'items' | 'retries' | 'agents' | 'recording'>>;

export type RunStatus = 'running' | 'completed' | 'failed' | 'interrupted';

const ROWS_AT_ONCE_MAX = 500;

export class StoredRuns {
  readonly #store: Reading;
  readonly #place: string;

  constructor(store: Reading, place: string) {
    this.#store = store;
    this.#place = place;
  }

  run(runId: string): StoredRun | undefined {
    return this.#read(`mapreduce/${runId}@${this.#place}`);
  }

  /** In the order of their starts. */
  runs(): readonly StoredRun[] {
    const found = [...this.#addresses('mapreduce', '')].flatMap(
      (address) => this.#read<StoredRun['context']>(address) ?? [],
    );
    return found.sort((a, b) => a.context.startedAt - b.context.startedAt);
  }

  /** Rows of the items that were begun, by index. */
  items(runId: string): ReadonlyMap<number, ItemRow> {
    const rows = this.#table(runId, 'items');
    return new Map(Array.from(rows, ([index, row]) => [Number(index), row as ItemRow]));
  }

  *#table(runId: string, name: string): Iterable<readonly [key: string, row: unknown]> {
    const address = `mapreduce/${runId}@${this.#place}`;
    const text = this.#store.load(address);
    if (text !== undefined) yield* storedRows(text, this.#store.rows(address), name);
  }

  agent(runId: string, agentId: string): StoredActor<MapAgentContext> | undefined {
    return this.#read(`map-agent/${runId}/${agentId}@${this.#place}`);
  }

  *agents(runId: string): Iterable<StoredActor<MapAgentContext>> {
    for (const address of this.#addresses('map-agent', `${runId}/`)) {
      const found = this.#read<MapAgentContext>(address);
      if (found !== undefined) yield found;
    }
  }

  /** Runs at work. */
  *live(): Iterable<StoredRun> {
    for (const tag of ['active', 'stopping'])
      for (const address of this.#addresses('mapreduce', '', { tag })) {
        const run = this.#read<StoredRun['context']>(address);
        if (run !== undefined) yield run;
      }
  }

  /** Agents of a run that have not ended. */
  *activeAgents(runId: string): Iterable<StoredActor<MapAgentContext>> {
    for (const [agentId] of this.#table(runId, 'agents')) {
      const found = this.agent(runId, agentId);
      if (found !== undefined) yield found;
    }
  }

  get failedItemCount(): number {
    let count = 0;
    for (const _ of this.#addresses('failed-item', '', { state: 'listed' })) count += 1;
    return count;
  }

  *failedItems(): Iterable<StoredActor<FailedItemContext>> {
    for (const address of this.#addresses('failed-item', '', { state: 'listed' })) {
      const found = this.#read<FailedItemContext>(address);
      if (found !== undefined) yield found;
    }
  }

  isListed(address: string): boolean {
    return this.#store.entry(`${address}@${this.#place}`)?.state === 'listed';
  }

  *#addresses(
    kind: string,
    prefix: string,
    query: { readonly tag?: string; readonly state?: string } = {},
  ): Iterable<string> {
    const begin = `${kind}/${prefix}`;
    let after = begin;
    for (;;) {
      const page = this.#store.query({ kind, ...query, after, limit: ROWS_AT_ONCE_MAX });
      for (const [address] of page.rows) {
        if (!address.startsWith(begin)) return;
        yield address;
      }
      if (page.cursor === undefined) return;
      after = page.cursor;
    }
  }

  #read<TContext>(address: string): StoredActor<TContext> | undefined {
    const text = this.#store.load(address);
    const entry = this.#store.entry(address);
    if (text === undefined || entry === undefined) return undefined;
    const { state, dueAt, turnAt } = entry;
    const record = JSON.parse(text) as { readonly snapshot: { readonly context: TContext } };
    return { address, state, dueAt, turnAt, context: record.snapshot.context };
  }
}

export function statusOf({ state }: StoredRun): RunStatus {
  if (state === 'completed' || state === 'failed' || state === 'interrupted') return state;
  return 'running';
}
