/**
 * The inspection stream on `node:diagnostics_channel`, for tools that know nothing of us.
 *
 * Guarantees: nothing is built or published for a channel without subscribers, and the
 * stream is read only while one of them has some. That is looked at before each batch of
 * turns and before a fact outside of one, so a subscriber hears of every turn taken after
 * it subscribed. What a subscriber throws reaches no actor; Node itself reports it as an
 * uncaught exception, as it does for every channel.
 */

import { type Channel, channel } from 'node:diagnostics_channel';
import type { Inspection, InspectionRecord } from '../runtime/base/inspection.ts';

/** Held here, because Node forgets a channel that nobody holds. */
const TURN = channel('escapement:turn');
const QUESTION = channel('escapement:question');
const MESSAGE = channel('escapement:message');
const TIMER = channel('escapement:timer');
const ACTOR = channel('escapement:actor');
const UNDELIVERED = channel('escapement:undelivered');
const COMMIT = channel('escapement:commit');
const LEASE = channel('escapement:lease');
const PEER = channel('escapement:peer');

const CHANNELS: Readonly<Record<InspectionRecord['type'], Channel>> = {
  turn: TURN,
  question: QUESTION,
  messageSent: MESSAGE,
  messageFenced: MESSAGE,
  timers: TIMER,
  actor: ACTOR,
  undelivered: UNDELIVERED,
  commit: COMMIT,
  commitRefused: COMMIT,
  lease: LEASE,
  peer: PEER,
};

const ALL: readonly Channel[] = [...new Set(Object.values(CHANNELS))];

/** The bridge from one runtime to the channels. */
export class DiagnosticChannels {
  #end: (() => void) | undefined;

  /** Takes it off the runtime that ends with this signal. */
  closeWith(ended: AbortSignal): void {
    if (ended.aborted) this.close();
    else ended.addEventListener('abort', () => this.close(), { once: true });
  }

  /** Begins to read when somebody subscribed meanwhile, and ends when nobody is left. */
  readonly attend = (inspection: Inspection): void => {
    if (hasSubscribers() === (this.#end !== undefined)) return;
    if (this.#end === undefined) this.#end = inspection.read(publish);
    else this.close();
  };

  close(): void {
    this.#end?.();
    this.#end = undefined;
  }
}

function hasSubscribers(): boolean {
  for (const each of ALL) if (each.hasSubscribers) return true;
  return false;
}

function publish(record: InspectionRecord): void {
  const target = channelOf(record.type);
  if (target.hasSubscribers) target.publish(record);
}

/** Channel on which records of this type are published. */
export function channelOf(type: InspectionRecord['type']): Channel {
  return CHANNELS[type];
}
