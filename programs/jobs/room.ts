/**
 * Requests of a program to an actor of its own that many others talk to: after a restart all that they have
 * under way comes at once, and what finds the mailbox full is asked again as soon as there may be room.
 */

import { RuntimeError } from '../../runtime/base/errors.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import { pause } from './client/pause.ts';

interface RoomPorts {
  readonly clock: Clock;
  readonly ending: AbortSignal;
  /** 0 while its place is not hosted. */
  readonly runtime: { readonly fence: number };
}

/** A mailbox has taken many turns meanwhile. */
const PAUSE_MS = 10;

/** Asks until there is room, for as long as the place is hosted without a break. @throws whatever asking ends with */
export async function onceThereIsRoom<T>(
  { clock, ending, runtime }: RoomPorts,
  ask: () => Promise<T>,
): Promise<T> {
  const { fence } = runtime;
  for (;;) {
    try {
      return await ask();
    } catch (thrown) {
      if (!(thrown instanceof RuntimeError && thrown.code === 'MAILBOX_FULL')) throw thrown;
      await pause(clock, PAUSE_MS, ending);
      if (ending.aborted || runtime.fence !== fence) throw thrown;
    }
  }
}
