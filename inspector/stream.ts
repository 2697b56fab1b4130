/**
 * One open stream: frames go down as server-sent events, and nothing is heard on it.
 *
 * A page that reads slowly keeps a bounded number of bytes here: frames beyond them are left out, and the page is
 * told how many of which type as soon as there is room. Nobody else waits for it.
 */

import type { ServerResponse } from 'node:http';
import type { Frame, Watch } from './protocol.ts';

export class FrameStream {
  readonly id: string;
  /** What the page wants to be told. */
  watch: Omit<Watch, 'stream'> = {};
  /** Rows last told of each watched list, as JSON by address. */
  readonly toldRows = new Map<string, ReadonlyMap<string, string>>();
  /** Last detail told of each watched actor. */
  readonly toldActors = new Map<string, string>();
  /** Last turn told of each watched actor. */
  readonly toldTurns = new Map<string, number>();
  readonly #response: ServerResponse;
  readonly #bytesMax: number;
  #isCorked = false;
  readonly #skipped = new Map<string, number>();

  constructor(id: string, response: ServerResponse, bytesMax: number) {
    this.id = id;
    this.#response = response;
    this.#bytesMax = bytesMax;
  }

  get isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  /** False when it was left out. */
  send(frame: Frame): boolean {
    return this.#sendText(frame, () => JSON.stringify(frame));
  }

  /** Sends a frame of which one member is JSON already; false when it was left out. */
  sendWith<TName extends 'actor' | 'changed'>(
    frame: Omit<Extract<Frame, Readonly<Record<TName, unknown>>>, TName> &
      Pick<Frame, 'at' | 'type'>,
    name: TName,
    json: string,
  ): boolean {
    // A frame has a time and a type before it.
    return this.#sendText(frame, () => `${JSON.stringify(frame).slice(0, -1)},"${name}":${json}}`);
  }

  #sendText({ at, type }: Pick<Frame, 'at' | 'type'>, encode: () => string): boolean {
    if (!this.isOpen) return false;
    if (!this.#hasRoom()) {
      this.#skipped.set(type, (this.#skipped.get(type) ?? 0) + 1);
      return false;
    }
    this.#tellSkipped(at);
    this.#write(encode());
    return true;
  }

  end(frame: Frame): void {
    if (!this.isOpen) return;
    this.#write(JSON.stringify(frame));
    this.#response.end();
  }

  #hasRoom(): boolean {
    return this.#response.writableLength <= this.#bytesMax;
  }

  #tellSkipped(at: number): void {
    for (const [of, count] of this.#skipped)
      this.#write(JSON.stringify({ at, type: 'skipped', count, of } satisfies Frame));
    if (this.#skipped.size === 0) return;
    // What was left out may have been the newest of a value: it is told again.
    this.toldRows.clear();
    this.toldActors.clear();
    this.#skipped.clear();
  }

  #write(json: string): void {
    if (!this.#isCorked) {
      // What is told at one moment leaves in one write: a write costs a node more than what is in it.
      this.#isCorked = true;
      this.#response.cork();
      setImmediate(() => {
        this.#isCorked = false;
        this.#response.uncork();
      });
    }
    // JSON has no line breaks, so one frame is one line.
    this.#response.write(`data: ${json}\n\n`);
  }
}
