/**
 * Event queue of a worker: tells its actor one thing after another, each when the one before is durable.
 *
 * A worker that prints faster than that is held up. Of progress that waits only the last is told.
 */

import type { Worker } from './worker.ts';

type Told = { readonly type: string };

const WAITING_MAX = 256;
const ENOUGH = 64;

export class EventQueue {
  readonly #send: (event: Told) => Promise<void>;
  #events: Told[] = [];
  #isSending = false;
  #isHeldUp = false;
  #worker: Pick<Worker, 'pause' | 'resume'> | undefined;

  constructor(send: (event: Told) => Promise<void>) {
    this.#send = send;
  }

  holds(worker: Pick<Worker, 'pause' | 'resume'>): void {
    this.#worker = worker;
  }

  add(event: Told): void {
    const last = this.#events.at(-1);
    if (event.type === 'progress.made' && last?.type === event.type) this.#events.pop();
    this.#events.push(event);
    if (this.#events.length > WAITING_MAX && !this.#isHeldUp) {
      this.#isHeldUp = true;
      this.#worker?.pause();
    }
    if (!this.#isSending) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isSending = true;
    for (let event = this.#events.shift(); event !== undefined; event = this.#events.shift()) {
      await this.#send(event);
      if (!this.#isHeldUp || this.#events.length > ENOUGH) continue;
      this.#isHeldUp = false;
      this.#worker?.resume();
    }
    this.#isSending = false;
  }
}
