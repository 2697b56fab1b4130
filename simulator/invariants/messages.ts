/**
 * Messages between actors: each has its effect once, they come in order, and they are bounded.
 *
 * They look at what actors took and what their records say of it. That none is lost is in
 * deliveries.ts, that a record is durable before anybody sees something of it in commits.ts.
 */

import { UNDER_WAY_MAX, WINDOW_MAX } from '../../runtime/actor.ts';
import { placeOf } from '../../runtime/base/address.ts';
import { errorFromShape } from '../../runtime/base/errors.ts';
import { DEFAULT_LIMITS } from '../../runtime/base/limits.ts';
import type { Receipt } from '../../runtime/delivery.ts';
import type { Invariant, RunFacts, Watcher } from './invariant.ts';
import { Disks, lostDisk } from './reading-disks.ts';
import { openFrame } from './reading-frames.ts';
import { isWritten } from './reading-holders.ts';
import { Lines, type TurnRecord } from './reading-lines.ts';
import { partsOf } from './reading-records.ts';
import { type Taking, Watermarks } from './reading-watermarks.ts';

/** MS-2. A message has one effect, whatever is sent twice and whichever node dies. */
export const effectOnce: Invariant = {
  id: 'MS-2',
  kind: 'safety',
  says: 'A message is taken at most once: no two turns of an actor have the same sender and counter, whether a copy comes at once or after a crash or a takeover of either side.',
  watch: (facts, verdict) =>
    takings(facts, (taking, record) => {
      verdict.exercised();
      if (taking !== 'again') return;
      const { address, from, counter, event } = record;
      verdict.broken(
        `${address} took message ${counter} of ${from} (${event.type}) again.`,
        record,
      );
    }),
};

/** MS-16. A receiver that remembers an earlier life of a sender takes a number of that life for a copy. */
export const oneNumberEach: Invariant = {
  id: 'MS-16',
  kind: 'safety',
  says: 'An actor that is spawned again numbers its messages above those of its earlier lives, also where nothing is left of those in its store.',
  watch: (_, verdict) => {
    /** Highest number that each address sent, and the highest in an earlier life. */
    const sent = new Map<string, { high: number; former: number }>();
    return {
      actor: ({ change, address }) => {
        const known = sent.get(address);
        if (change === 'born' && known !== undefined) known.former = known.high;
      },
      sent: (record) => {
        const { from, to, counter, event } = record;
        const known = sent.get(from) ?? { high: 0, former: 0 };
        sent.set(from, known);
        if (known.former > 0) verdict.exercised();
        known.high = Math.max(known.high, counter);
        if (counter > known.former) return;
        const what = `${from} sent message ${counter} to ${to} (${event.type}) after an earlier life had sent ${known.former}.`;
        verdict.broken(what, record);
      },
    };
  },
};

/**
 * MS-3. The runtime puts the messages of a pair back into their order, so that whatever order the
 * network had, machines see one. Between different senders there is none to rely on.
 */
export const orderOfPairs: Invariant = {
  id: 'MS-3',
  kind: 'safety',
  says: 'Messages of one actor to another are taken in the order in which they were sent, in whatever order frames arrive.',
  watch: (facts, verdict) =>
    takings(facts, (taking, record) => {
      // What performers send has no order.
      if (record.from?.startsWith('effect:') === true) return;
      verdict.exercised();
      if (taking !== 'late') return;
      const { address, from, counter, event } = record;
      const what = `${address} took message ${counter} of ${from} (${event.type}) after a later one.`;
      verdict.broken(what, record);
    }),
};

/**
 * MS-4. Of the bounds the fixed ones are judged here. Those that are options (mailboxMax, outboxMax,
 * sendersMax) are proven by test/engine/bad-input.test.ts, test/delivery/delivery.test.ts and
 * test/delivery/inbox.test.ts; that nothing is dropped at them is MS-1.
 */
export const boundsOfMessages: Invariant = {
  id: 'MS-4',
  kind: 'resources',
  says: 'At most 64 messages of a pair are under way unanswered, an inbox remembers at most 64 counters of a sender out of order, and no frame is larger than one envelope may be.',
  watch: (facts, verdict) => {
    const disks = new Disks();
    const underWay = new UnderWay();
    return {
      node: ({ node, change }) => {
        if (change === 'started') underWay.forget(node);
      },
      // The holder of the lease hears the answers.
      lease: ({ node }) => underWay.forget(node),
      commit: (record) => disks.commit(record),
      fault: (record) => {
        disks.fault(record);
        const lost = lostDisk(record);
        if (lost !== undefined) underWay.beginAnew(lost);
      },
      frame: (record) => {
        const { change, frame, node } = record;
        if (change === 'delivered')
          underWay.hear(record.to, facts.places[record.to] ?? record.to, frame);
        if (change !== 'sent') return;
        if (frame.length > FRAME_LENGTH_MAX)
          verdict.broken(`A frame of ${frame.length} characters was sent.`, record);
        const place = facts.places[node];
        // What a liar says it never waits for.
        const most = place === undefined ? undefined : underWay.send(node, place, frame);
        if (most === undefined) return;
        verdict.exercised();
        if (most.count > UNDER_WAY_MAX.value)
          verdict.broken(`${most.count} messages of ${most.pair} are under way.`, record);
      },
      end: () => {
        for (const [address, text] of disks.entries()) {
          for (const [sender, [, , ...above]] of Object.entries(partsOf(text).inbox ?? {}))
            if (above.length > WINDOW_MAX.value)
              verdict.broken(`${address} remembers ${above.length} counters of ${sender}.`);
        }
      },
    };
  },
};

/** Frames are filled up to 32 KiB, and a single large envelope is a frame of its own. */
const FRAME_LENGTH_MAX = DEFAULT_LIMITS.messageBytesMax + 64 * 1024;

/** Tells of every message with an identity that reached a machine. */
function takings(facts: RunFacts, taken: (taking: Taking, record: TurnRecord) => void): Watcher {
  const watermarks = new Watermarks(facts);
  const lines = new Lines((line, address, unshown) => {
    if (unshown > 0) watermarks.restore(address, line.text);
  });
  return {
    node: (record) => lines.node(record),
    fault: (record) => {
      lines.fault(record);
      const lost = lostDisk(record);
      if (lost !== undefined) watermarks.forget(lost);
    },
    commit: (record) => {
      lines.commit(record);
      if (!isWritten(record)) return;
      for (const { address, record: text } of record.writes)
        if (text === null) watermarks.beginAnew(address);
    },
    turn: (record) => {
      const isLate = lines.turn(record)?.order === 'late';
      // What it took has been known since the takeover, from the record.
      if (isLate) return;
      if (record.turn === 1) watermarks.beginAnew(record.address);
      if (record.counter === undefined || record.counter === 0) return;
      taken(watermarks.take(record, lines.of(record.address)?.top ?? record.turn), record);
    },
  };
}

/**
 * Messages that a node has sent and not seen answered, by pair.
 *
 * A fault may send an old message again from its node, and then nobody waits for an answer. So what
 * was ever answered for good is not counted again.
 */
class UnderWay {
  readonly #pairs = new Map<string, Map<string, Set<number>>>();
  /** Answered for good, by pair, whichever node hosted the sender then. */
  readonly #settled = new Map<string, Set<number>>();

  /** What the node was waiting for is not its own any more. */
  forget(node: string): void {
    this.#pairs.delete(node);
  }

  /** The place has lost its records: its actors use their counters again. */
  beginAnew(place: string): void {
    for (const pair of this.#settled.keys())
      if (placeOf(pair.slice(0, pair.indexOf(' '))) === place) this.#settled.delete(pair);
  }

  /** The pair of those in the frame that has most under way. */
  send(
    node: string,
    place: string,
    frame: string,
  ): { readonly pair: string; readonly count: number } | undefined {
    let most: { readonly pair: string; readonly count: number } | undefined;
    for (const { from, to, counter } of openFrame(frame).envelopes) {
      // Requests have one message each, under a name of their own. A session gives up what its caller
      // waits for no longer, and nothing on the wire says so: test/delivery/sessions-under-way.test.ts counts.
      if (placeOf(from) !== place || from.startsWith('session:')) continue;
      const pair = `${from} to ${to}`;
      if (this.#settled.get(pair)?.has(counter) === true) continue;
      const pairs = this.#pairs.get(node) ?? new Map<string, Set<number>>();
      this.#pairs.set(node, pairs);
      const counters = pairs.get(pair) ?? new Set<number>();
      pairs.set(pair, counters);
      counters.add(counter);
      if (counters.size > (most?.count ?? 0)) most = { pair, count: counters.size };
    }
    return most;
  }

  /** An answer settles the message, unless it asks for it again. */
  hear(node: string, place: string, frame: string): void {
    if (frame.endsWith('"receipts":[]}')) return;
    const pairs = this.#pairs.get(node);
    for (const receipt of openFrame(frame).receipts) {
      const { from, to, counter } = receipt;
      if (placeOf(from) !== place) continue;
      const pair = `${from} to ${to}`;
      pairs?.get(pair)?.delete(counter);
      if (!isForGood(receipt)) continue;
      const settled = this.#settled.get(pair) ?? new Set<number>();
      this.#settled.set(pair, settled);
      settled.add(counter);
    }
  }
}

/** Refusals that are not retryable in general, and yet a sender may try again after them. */
const TRIED_AGAIN: ReadonlySet<string> = new Set(['ACTOR_ENDED', 'ACTOR_UNKNOWN', 'KIND_UNKNOWN']);

/** Whether the sender will not send the message again. */
function isForGood({ error }: Receipt): boolean {
  if (error === undefined) return true;
  const { code, retryable } = errorFromShape(error);
  return !retryable && !TRIED_AGAIN.has(code);
}
