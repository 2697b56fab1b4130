/**
 * Waiting room: submissions of one client that were refused as overload, handed in again when there is room.
 *
 * Guarantees: only the first in line asks, and no sooner than it was told; when it is taken the next
 * one asks at once. A submission without time left goes, with the refusal. So a client that submits much is
 * refused once for each job and not sent away for asking too often.
 */

import type { SubmissionAnswer } from '../../../machines/jobs/messages/client.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import type { Random } from '../../../runtime/ports/random.ts';
import { pause } from './pause.ts';

export function isRefusedForNow({ reason, retryAfterMs }: SubmissionAnswer): boolean {
  return reason === 'overloaded' && retryAfterMs !== undefined;
}

/** A share of the time that is told, by chance: not all clients come back in one moment. */
const SPREAD = 0.25;

export class WaitingRoom {
  readonly #clock: Clock;
  readonly #random: Random;
  /** Resolves when the last one in line has left: whether it was taken. */
  #last: Promise<boolean> = Promise.resolve(false);

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The answer of the last try. Rejects as a try does. */
  async wait(
    submit: () => Promise<SubmissionAnswer>,
    refusal: SubmissionAnswer,
    endsAt: number,
  ): Promise<SubmissionAnswer> {
    const before = this.#last;
    let leave: (isTaken: boolean) => void = () => {};
    const own = new Promise<boolean>((resolve) => {
      leave = resolve;
    });
    // A submission that leaves from the middle lets nobody pass those before it.
    this.#last = before.then(() => own);
    let answer = refusal;
    try {
      let isRoom = await this.#turn(before, endsAt);
      while (isRefusedForNow(answer)) {
        const pauseMs = isRoom ? 0 : this.#pauseMs(answer);
        if (this.#clock.now() + pauseMs >= endsAt) break;
        if (pauseMs > 0) await pause(this.#clock, pauseMs);
        answer = await submit();
        isRoom = false;
      }
      return answer;
    } finally {
      leave(answer.accepted);
    }
  }

  /** Resolves when it is first in line, or its time is up: whether the one before was taken. */
  async #turn(before: Promise<boolean>, endsAt: number): Promise<boolean> {
    const limit = new AbortController();
    const late = pause(this.#clock, Math.max(0, endsAt - this.#clock.now()), limit.signal);
    const isRoom = await Promise.race([before, late.then(() => false)]);
    limit.abort();
    return isRoom;
  }

  #pauseMs({ retryAfterMs = 0 }: SubmissionAnswer): number {
    return Math.round(retryAfterMs * (1 + SPREAD * this.#random.next()));
  }
}
