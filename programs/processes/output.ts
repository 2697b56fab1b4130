/**
 * Output of a command, kept up to a limit: the rest is drained, dropped and marked, so that no command can
 * fill a disk or a memory and none has to wait for a reader.
 *
 * A file is made with the first byte. Every chunk is written at once, so that what a command has printed
 * is there after a crash of this process.
 */

import { closeSync, openSync, writeSync } from 'node:fs';

export const TRUNCATION_MARK = '[escapement: output truncated]';

/** Receives what a command prints on one stream. */
export interface OutputSink {
  write(chunk: Buffer): void;
  /** Takes nothing more; what comes later is dropped. Idempotent. */
  close(): void;
}

/** Keeps the first `bytesMax` bytes in a file. A failing disk is told once to `failed`, and the rest is dropped. */
export class OutputFile implements OutputSink {
  readonly path: string;
  readonly #failed: (error: Error) => void;
  #bytesLeft: number;
  #descriptor: number | undefined;
  #isClosed = false;

  constructor(path: string, bytesMax: number, failed: (error: Error) => void) {
    this.path = path;
    this.#bytesLeft = bytesMax;
    this.#failed = failed;
  }

  write(chunk: Buffer): void {
    if (this.#isClosed) return;
    const kept = chunk.length <= this.#bytesLeft ? chunk : wholeText(chunk, this.#bytesLeft);
    try {
      this.#descriptor ??= openSync(this.path, 'w', 0o600);
      writeAll(this.#descriptor, kept);
      this.#bytesLeft -= kept.length;
      if (kept.length === chunk.length) return;
      writeAll(this.#descriptor, Buffer.from(TRUNCATION_MARK));
    } catch (thrown) {
      this.#failed(thrown as Error);
    }
    this.close();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

/** Keeps the first `bytesMax` bytes in memory. */
export class OutputText implements OutputSink {
  readonly #chunks: Buffer[] = [];
  #bytesLeft: number;
  #isClosed = false;

  constructor(bytesMax: number) {
    this.#bytesLeft = bytesMax;
  }

  write(chunk: Buffer): void {
    if (this.#isClosed) return;
    const kept = chunk.length <= this.#bytesLeft ? chunk : wholeText(chunk, this.#bytesLeft);
    this.#chunks.push(kept);
    this.#bytesLeft -= kept.length;
    if (kept.length === chunk.length) return;
    this.#chunks.push(Buffer.from(TRUNCATION_MARK));
    this.close();
  }

  close(): void {
    this.#isClosed = true;
  }

  /** What was kept. Bytes that are no UTF-8 become U+FFFD. */
  get text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

/** The beginning of `chunk` that fits, without a part of a character at its end. */
function wholeText(chunk: Buffer, bytes: number): Buffer {
  let end = bytes;
  // A UTF-8 character has at most three bytes after its first.
  while (end > bytes - 4 && end > 0 && ((chunk[end] ?? 0) & 0xc0) === 0x80) end--;
  return chunk.subarray(0, end > bytes - 4 ? end : bytes);
}

function writeAll(descriptor: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(descriptor, bytes, done, bytes.length - done);
}
