/**
 * Growing file: what another process writes, read as far as it has come. A file that is not there yet is empty, and a
 * character that is written in part waits for its rest. One that its writer has cut, or put another in its place, is read
 * from its new beginning.
 */

import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { systemClock } from '../../runtime/system/clock.ts';

const CHUNK_BYTES = 64 * 1024;
const LOOK_EVERY_MS = 200;

export class GrowingFile {
  readonly path: string;
  #decoder = new StringDecoder();
  #readBytes = 0;
  #inode = 0;
  /** Held open, so that a file that takes its place cannot have its number. */
  #held: number | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Text that has come since the last time, in pieces. */
  *more(): Iterable<string> {
    if (!existsSync(this.path)) return;
    const descriptor = openSync(this.path, 'r');
    try {
      const { size, ino } = fstatSync(descriptor);
      if (size < this.#readBytes || ino !== this.#inode) {
        this.#readBytes = 0;
        this.#decoder = new StringDecoder();
      }
      this.#inode = ino;
      for (let left = size - this.#readBytes; left > 0; ) {
        const bytes = Buffer.alloc(Math.min(left, CHUNK_BYTES));
        const length = readSync(descriptor, bytes, 0, bytes.length, this.#readBytes);
        if (length === 0) return;
        this.#readBytes += length;
        left -= length;
        const text = this.#decoder.write(bytes.subarray(0, length));
        if (text !== '') yield text;
      }
    } finally {
      if (this.#held !== undefined) closeSync(this.#held);
      this.#held = descriptor;
    }
  }
}

/** Shows what is there, and with `follows` what comes, until nobody writes any more. */
export async function follow(
  show: () => void,
  follows: boolean,
  isAtWork: () => Promise<boolean>,
): Promise<void> {
  show();
  const clock = systemClock();
  while (follows && (await isAtWork())) {
    await new Promise<void>((resolve) => {
      clock.schedule(clock.now() + LOOK_EVERY_MS, resolve);
    });
    show();
  }
  show();
}
