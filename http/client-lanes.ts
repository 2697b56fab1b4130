/**
 * Lanes of clients: a few requests of each are carried out at once, and the others one after the other.
 *
 * Guarantees: requests of a client begin in the order in which they came; what one client asks for
 * makes no other wait in line. A request whose caller has gone is not begun. A client without a
 * request costs nothing.
 */

import type { ServerResponse } from 'node:http';
import type { Clock } from '../runtime/ports/clock.ts';
import { HttpRefusal, tryLater } from './refusal.ts';

export interface LaneLimits {
  readonly requestsAtOnceMax: number;
  readonly requestsWaitingMax: number;
  /** Time for which one waits. */
  readonly answerMs: number;
}

interface Lane {
  running: number;
  readonly waiting: Set<() => void>;
}

export class ClientLanes {
  readonly #clock: Clock;
  readonly #limits: LaneLimits;
  readonly #lanes = new Map<string, Lane>();

  constructor(clock: Clock, limits: LaneLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Number of requests that wait, of all clients. */
  get waiting(): number {
    let count = 0;
    for (const { waiting } of this.#lanes.values()) count += waiting.size;
    return count;
  }

  /**
   * Resolves when a request of this client may begin; what it resolves with is called at its end.
   *
   * @throws {HttpRefusal} tooManyRequests, overloaded
   */
  async enter(client: string, response: ServerResponse): Promise<() => void> {
    const lane = this.#lanes.get(client) ?? { running: 0, waiting: new Set() };
    this.#lanes.set(client, lane);
    const { requestsAtOnceMax, requestsWaitingMax } = this.#limits;
    if (lane.running < requestsAtOnceMax) lane.running += 1;
    else if (lane.waiting.size < requestsWaitingMax) await this.#wait(lane, response);
    else {
      const what = `At most ${requestsAtOnceMax + requestsWaitingMax} requests of one client at once.`;
      throw new HttpRefusal('tooManyRequests', what, { headers: { 'retry-after': '1' } });
    }
    let isOver = false;
    return () => {
      if (!isOver) this.#leave(client, lane);
      isOver = true;
    };
  }

  /** A request that leaves hands its place on. */
  #wait(lane: Lane, response: ServerResponse): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (how: () => void): void => {
        cancel();
        response.off('close', left);
        lane.waiting.delete(begin);
        how();
      };
      const begin = (): void => settle(resolve);
      const give = (refusal: HttpRefusal): void => settle(() => reject(refusal));
      const late = (): void =>
        give(tryLater('overloaded', 'Other requests of this client took too long.'));
      const cancel = this.#clock.schedule(this.#clock.now() + this.#limits.answerMs, late);
      const left = (): void => give(new HttpRefusal('requestLate', 'The caller has gone.'));
      response.once('close', left);
      lane.waiting.add(begin);
    });
  }

  #leave(client: string, lane: Lane): void {
    for (const next of lane.waiting) {
      next();
      return;
    }
    lane.running -= 1;
    if (lane.running === 0) this.#lanes.delete(client);
  }
}
