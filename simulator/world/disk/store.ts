/**
 * The store of one life of a node on a pretend disk.
 *
 * Guarantees what every store does, over what is on the disk by then. When its life is over it is as a
 * store whose process is dead: it neither reads nor writes, opens for nobody, and settles nothing.
 */

import { RuntimeError } from '../../../runtime/base/errors.ts';
import type {
  Group,
  IndexEntry,
  Settle,
  Store,
  StoredRow,
  StorePage,
  StoreQuery,
} from '../../../runtime/ports/store.ts';
import type { DiskContent } from './content.ts';
import type { DiskLife } from './disk.ts';

export class DiskStore implements Store {
  /** False where a crash may split a group. */
  readonly isGroupAtomic: boolean;
  readonly #life: DiskLife;
  readonly #content: DiskContent;
  readonly #commit: (group: Group, settle: Settle) => void;

  constructor(
    life: DiskLife,
    content: DiskContent,
    isGroupAtomic: boolean,
    commit: (group: Group, settle: Settle) => void,
  ) {
    this.isGroupAtomic = isGroupAtomic;
    this.#life = life;
    this.#content = content;
    this.#commit = commit;
  }

  async open(place?: string): Promise<void> {
    if (this.#life.isOver) await never();
    this.#content.expectComplete();
    await this.#content.store.open(place);
  }

  fence(shard: string): number {
    return this.#alive.store.fence(shard);
  }

  load(address: string): string | undefined {
    const content = this.#alive;
    content.expectSound(address);
    return content.store.load(address);
  }

  rows(address: string): Iterable<StoredRow> {
    const content = this.#alive;
    content.expectSound(address);
    return content.store.rows(address);
  }

  entry(address: string): IndexEntry | undefined {
    const { store, damaged } = this.#alive;
    return damaged.has(address) ? undefined : store.entry(address);
  }

  *entries(): Iterable<readonly [string, IndexEntry]> {
    const { store, damaged } = this.#alive;
    for (const row of store.entries()) if (!damaged.has(row[0])) yield row;
  }

  query(query: StoreQuery): StorePage {
    const { store, damaged } = this.#alive;
    const page = store.query(query);
    if (damaged.size === 0) return page;
    return { ...page, rows: page.rows.filter(([address]) => !damaged.has(address)) };
  }

  history(address: string, limit: number): readonly string[] {
    const content = this.#alive;
    content.expectSound(address);
    return content.store.history(address, limit);
  }

  undelivered(): Iterable<readonly [string, string]> {
    return this.#alive.store.undelivered();
  }

  damaged(): Iterable<readonly [string, string]> {
    return this.#alive.damaged;
  }

  commit(group: Group, settle: Settle): void {
    this.#commit(group, settle);
  }

  async close(): Promise<void> {
    const { isOver, unsettled, waiting } = this.#life;
    if (isOver || unsettled === 0) return;
    await new Promise<void>((resolve) => waiting.push(resolve));
  }

  /** @throws {RuntimeError} STORE_CLOSED */
  get #alive(): DiskContent {
    if (!this.#life.isOver) return this.#content;
    const { node, life } = this.#life;
    throw new RuntimeError(
      'STORE_CLOSED',
      `Life ${life} of node "${node}" is over: it reads nothing.`,
    );
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
