/**
 * Growing file: what another process writes, read as far as it has come. A file that is not there yet is empty, and a
 * character that is written in part waits for its rest. One that its writer has cut is read from its new beginning; of
 * another in its place, what it begins with is not read twice where that is the end of the one before.
 */

import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { systemClock } from '../../runtime/system/clock.ts';

const CHUNK_BYTES = 64 * 1024;
const SHARED_BYTES_MIN = 64;
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
      if (this.#held !== undefined && ino !== this.#inode) {
        const known = yield* this.#rest(this.#held, fstatSync(this.#held).size);
        this.#readBytes = sharedBytes(this.#held, known, descriptor, size);
        if (this.#readBytes === 0) this.#decoder = new StringDecoder();
      } else if (size < this.#readBytes) {
        this.#readBytes = 0;
        this.#decoder = new StringDecoder();
      }
      this.#inode = ino;
      yield* this.#rest(descriptor, size);
    } finally {
      if (this.#held !== undefined) closeSync(this.#held);
      this.#held = descriptor;
    }
  }

  /** Reads on to `size`, which it gives back. */
  *#rest(descriptor: number, size: number): Generator<string, number> {
    for (let left = size - this.#readBytes; left > 0; ) {
      const bytes = Buffer.alloc(Math.min(left, CHUNK_BYTES));
      const length = readSync(descriptor, bytes, 0, bytes.length, this.#readBytes);
      if (length === 0) break;
      this.#readBytes += length;
      left -= length;
      const text = this.#decoder.write(bytes.subarray(0, length));
      if (text !== '') yield text;
    }
    return size;
  }
}

/** Bytes at the end of a file with which another begins, as a log does whose beginning was dropped; few are chance. */
function sharedBytes(before: number, beforeSize: number, now: number, size: number): number {
  const end = Buffer.alloc(Math.min(beforeSize, CHUNK_BYTES));
  const beginning = Buffer.alloc(Math.min(size, CHUNK_BYTES));
  if (beginning.length < SHARED_BYTES_MIN) return 0;
  readSync(before, end, 0, end.length, beforeSize - end.length);
  readSync(now, beginning, 0, beginning.length, 0);
  const first = beginning.subarray(0, SHARED_BYTES_MIN);
  for (let at = end.indexOf(first); at >= 0; at = end.indexOf(first, at + 1)) {
    const shared = end.subarray(at);
    if (shared.equals(beginning.subarray(0, shared.length))) return shared.length;
  }
  return 0;
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
