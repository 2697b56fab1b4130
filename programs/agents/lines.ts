/**
 * Lines: splits what an agent prints into lines, without ever holding more than one of the longest allowed.
 */

export interface LineListener {
  /** A whole line without its end; `isWhole` is false for one that is no UTF-8. */
  line(text: string, isWhole: boolean): void;
  /** A line that was too long, of which only the beginning is left. */
  tooLong(begin: string): void;
}

const LF = 0x0a;
const CR = 0x0d;
const BEGIN_BYTES = 100;
const DECODER = new TextDecoder('utf-8', { fatal: true });

export class Lines {
  readonly #listener: LineListener;
  readonly #bytesMax: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #isTooLong = false;
  /** Of a line that is too long. */
  #begin = '';

  constructor(bytesMax: number, listener: LineListener) {
    this.#bytesMax = bytesMax;
    this.#listener = listener;
  }

  write(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, from)) {
      this.#add(chunk.subarray(from, at));
      this.#end();
      from = at + 1;
    }
    this.#add(chunk.subarray(from));
  }

  /** The last line may have no end. */
  close(): void {
    if (this.#bytes > 0 || this.#isTooLong) this.#end();
  }

  #add(part: Buffer): void {
    if (part.length === 0 || this.#isTooLong) return;
    this.#bytes += part.length;
    if (this.#bytes > this.#bytesMax) {
      this.#isTooLong = true;
      this.#begin = (this.#parts[0] ?? part).subarray(0, BEGIN_BYTES).toString();
      this.#parts = [];
    } else this.#parts.push(part);
  }

  #end(): void {
    const bytes =
      this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
    const wasTooLong = this.#isTooLong;
    this.#parts = [];
    this.#bytes = 0;
    this.#isTooLong = false;
    if (wasTooLong) this.#listener.tooLong(this.#begin);
    else this.#tell(bytes.at(-1) === CR ? bytes.subarray(0, -1) : bytes);
  }

  #tell(bytes: Buffer): void {
    try {
      this.#listener.line(DECODER.decode(bytes), true);
    } catch {
      this.#listener.line(bytes.toString('latin1'), false);
    }
  }
}
