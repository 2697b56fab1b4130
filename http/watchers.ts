/**
 * Streams of server-sent events: a job at each change, until it has ended.
 *
 * Guarantees: a client that was cut off and names the last event it saw gets what came after it and
 * nothing twice; one that goes away or does not read costs nothing for long. Only the newest state
 * is told: a client that was away for two changes hears of the last one.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JobView } from '../programs/jobs/index.ts';
import { messageOf, RuntimeError } from '../runtime/base/errors.ts';
import type { Logger } from '../runtime/base/limits.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import type { HttpLimits } from './limits.ts';
import { HttpRefusal, tryLater } from './refusal.ts';

interface WatcherPorts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: HttpLimits;
}

export class Watchers {
  readonly #ports: WatcherPorts;
  /** Client of each open stream. */
  readonly #open = new Map<AbortController, string>();

  constructor(ports: WatcherPorts) {
    this.#ports = ports;
  }

  get size(): number {
    return this.#open.size;
  }

  /** A place for one more of this client; its signal is aborted when everything ends. @throws {HttpRefusal} overloaded, tooManyRequests */
  open(client: string): AbortController {
    const { watchersMax, watchersPerClientMax } = this.#ports.limits;
    if (this.#open.size >= watchersMax)
      throw tryLater('overloaded', `There are ${watchersMax} streams of events already.`);
    const own = [...this.#open.values()].filter((one) => one === client).length;
    if (own >= watchersPerClientMax) {
      const what = `One client has at most ${watchersPerClientMax} streams of events.`;
      throw new HttpRefusal('tooManyRequests', what, { headers: { 'retry-after': '1' } });
    }
    const watcher = new AbortController();
    this.#open.set(watcher, client);
    watcher.signal.addEventListener('abort', () => this.#open.delete(watcher), { once: true });
    return watcher;
  }

  /** Tells each view until there are no more, or nobody listens. `first` has been read already; left out, the client knows it. */
  async stream(
    request: IncomingMessage,
    response: ServerResponse,
    first: JobView | undefined,
    news: AsyncIterator<JobView>,
    watcher: AbortController,
  ): Promise<void> {
    const end = (): void => watcher.abort();
    response.once('close', end).once('error', end);
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-accel-buffering': 'no',
    });
    request.socket.setNoDelay(true);
    const stopBeating = this.#beat(response);
    try {
      if (first !== undefined) tell(response, first);
      else response.flushHeaders();
      for (let next = await news.next(); next.done !== true; next = await news.next()) {
        if (!this.#isRead(response)) break;
        tell(response, next.value);
      }
    } catch (thrown) {
      // The client comes back, here or elsewhere, and names the last event it has seen.
      const isOver = thrown instanceof RuntimeError && thrown.code === 'ABORTED';
      if (!isOver)
        this.#ports.logger.debug({ error: messageOf(thrown) }, 'a stream of events was cut off');
    } finally {
      stopBeating();
      end();
      response.end();
    }
  }

  /** Ends all streams. */
  close(): void {
    for (const watcher of [...this.#open.keys()]) watcher.abort();
  }

  #beat(response: ServerResponse): () => void {
    const { clock, limits } = this.#ports;
    const next = (): (() => void) => clock.schedule(clock.now() + limits.heartbeatMs, beat);
    const beat = (): void => {
      if (!this.#isRead(response)) return;
      response.write(': still here\n\n');
      cancel = next();
    };
    let cancel = next();
    return () => cancel();
  }

  /** A client that does not read loses the connection. */
  #isRead(response: ServerResponse): boolean {
    if (response.writableLength <= this.#ports.limits.watcherBytesMax) return true;
    response.destroy();
    return false;
  }
}

function tell(response: ServerResponse, { workflows: _, ...view }: JobView): void {
  response.write(`event: job\nid: ${view.seq}\ndata: ${JSON.stringify(view)}\n\n`);
}
