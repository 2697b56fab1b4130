/**
 * Log tail: the last of what an attempt printed that is no line of the protocol, in a file that `agents logs` shows.
 */

import { appendFileSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';

const KEPT_BYTES = 64 * 1_024;
/** Above it the beginning of the file is dropped. */
const FILE_BYTES_MAX = 4 * KEPT_BYTES;

export class LogTail {
  readonly path: string;
  #bytes = 0;
  #hasFailed = false;
  readonly #failed: (error: Error) => void;

  constructor(path: string, failed: (error: Error) => void) {
    this.path = path;
    this.#failed = failed;
  }

  write(bytes: Buffer | string): void {
    if (this.#hasFailed) return;
    try {
      appendFileSync(this.path, bytes, { mode: 0o600 });
      this.#bytes += Buffer.byteLength(bytes);
      if (this.#bytes > FILE_BYTES_MAX) this.trim();
    } catch (thrown) {
      this.#hasFailed = true;
      this.#failed(thrown as Error);
    }
  }

  /** Keeps the end of it, in a new file: those who follow it see that. */
  trim(): void {
    if (this.#hasFailed || this.#bytes === 0) return;
    try {
      if (statSync(this.path).size <= KEPT_BYTES) return;
      const tail = readFileSync(this.path).subarray(-KEPT_BYTES);
      writeFileSync(`${this.path}.new`, tail, { mode: 0o600 });
      renameSync(`${this.path}.new`, this.path);
      this.#bytes = KEPT_BYTES;
    } catch (thrown) {
      this.#hasFailed = true;
      this.#failed(thrown as Error);
    }
  }
}
