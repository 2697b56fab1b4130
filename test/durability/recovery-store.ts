/**
 * The real LMDB store of one directory, whose process can die at any commit.
 *
 * `reopen` closes the files and opens them again, with nothing of the old store in memory. The
 * death comes between two instructions of a process: `heardMax` groups are still heard of, the
 * next one is on disk or not (`lastWords`), and from then on nothing is written and nothing
 * settled. What the files do when the machine loses power is not shown here.
 */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Group, Settle } from '../../runtime/ports/store.ts';
import { lmdbStore } from '../../stores/lmdb.ts';
import { StoreInFront } from '../store-in-front.ts';

/** A new directory; who asks for it removes it once nothing uses it. */
export function recoveryDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'escapement-recovery-'));
}

export interface Death {
  /** Groups that are settled as usual before. */
  readonly heardMax: number;
  /** The outcome of the group after these: on disk without anybody hearing of it, or gone. */
  readonly lastWords: 'written' | 'lost';
}

export class RecoveryStore extends StoreInFront {
  readonly directory: string;
  /** Groups handed over and not yet settled. */
  underWay = 0;
  /** True once the group came that nobody hears of. */
  isSilent = false;
  #death: Death | undefined;
  #heard = 0;
  #life = 0;

  constructor(directory: string) {
    super(lmdbStore(directory));
    this.directory = directory;
  }

  /** From now on the process has so long to live. */
  die(death: Death): void {
    this.#death = death;
    this.#heard = 0;
  }

  async reopen(): Promise<void> {
    await this.close();
    this.behind = lmdbStore(this.directory);
  }

  override commit(group: Group, settle: Settle): void {
    const isLast = this.#death !== undefined && this.#heard >= this.#death.heardMax;
    this.#heard += 1;
    if (this.isSilent) return;
    this.isSilent = isLast;
    if (isLast && this.#death?.lastWords === 'lost') return;
    const life = this.#life;
    this.underWay += 1;
    this.behind.commit(group, (refusal) => {
      if (life !== this.#life) return;
      this.underWay -= 1;
      if (!isLast) settle(refusal);
    });
  }

  override async close(): Promise<void> {
    await this.behind.close();
    this.#life += 1;
    this.underWay = 0;
    this.#death = undefined;
    this.isSilent = false;
  }
}
