/**
 * Fence file, `lease.json`: the greatest fence that a holder of a directory's lease was given.
 *
 * Guarantees: a fence is on disk, name and all, before it is handed out, and the next one is
 * greater, for any caller. Only the owner of the directory may raise it. A file that cannot be read
 * is never taken for 0. The store has the last word: a runtime goes above the store's fence.
 */

import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { checkFence } from '../../runtime/base/fence.ts';
import { FILE_MODE, syncEntries } from '../durable-files.ts';

const FENCE_FILE = 'lease.json';
const FORMAT = 1;

export class LeaseFence {
  readonly #directory: string;
  readonly #path: string;
  /** One write at a time: the draft has one name. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(directory: string) {
    this.#directory = directory;
    this.#path = join(directory, FENCE_FILE);
  }

  /**
   * A fence greater than all before, and not below `atLeast`. Nothing when `isOurs`, asked right
   * before the file is replaced, says that the directory belongs to somebody else meanwhile.
   *
   * @throws {RuntimeError} RECORD_INVALID, FENCE_EXHAUSTED @throws the file system's error when it cannot be written.
   */
  raise(isOurs: () => boolean, atLeast = 0): Promise<number | undefined> {
    const raised = this.#last.then(() => this.#raise(isOurs, atLeast));
    this.#last = raised.catch(() => {});
    return raised;
  }

  async #raise(isOurs: () => boolean, atLeast: number): Promise<number | undefined> {
    // A fence that could not be read back is not written.
    const fence = checkFence(Math.max(this.#read() + 1, atLeast));
    const draft = `${this.#path}.tmp`;
    await writeDurably(draft, `${JSON.stringify({ format: FORMAT, fence })}\n`);
    if (!isOurs()) return undefined;
    await rename(draft, this.#path);
    await syncEntries(this.#directory);
    return fence;
  }

  #read(): number {
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return 0;
      throw thrown;
    }
    const fence = fenceIn(text);
    if (fence !== undefined) return fence;
    throw new RuntimeError(
      'RECORD_INVALID',
      `${this.#path} is damaged or of a newer release, so the last fence is unknown. If the store ` +
        'in this directory is intact, remove the file: the runtime goes on from the fence in the store.',
    );
  }
}

function fenceIn(text: string): number | undefined {
  try {
    const { format, fence } = JSON.parse(text);
    return format === FORMAT && Number.isSafeInteger(fence + 1) && fence >= 0 ? fence : undefined;
  } catch {
    return undefined;
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const handle = await open(path, 'w', FILE_MODE);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
