/**
 * Commit before effect: nothing is shown, sent or acknowledged that is not on the disk, and what
 * was refused or superseded never happened.
 *
 * The disk of each place is known by its commits, so only places with one are judged. MS-8 (data of
 * earlier releases) is proven by test/durability/recovery-versions.test.ts and the tests in
 * test/rehearsal, MS-9 (one owner of a directory) by test/stores/directory-lock.test.ts and
 * test/stores/directory-lock-owners.test.ts, MS-14 (synced before acknowledged) by
 * test/durability/sync.test.ts. MS-10 (bytes on disk) needs a real one: bench/engine-idle.ts
 * measures it.
 */

import { isWholeAddress, kindOf, placeOf } from '../../runtime/base/address.ts';
import type { Receipt } from '../../runtime/delivery.ts';
import type { HistoryRecord } from '../history.ts';
import type { Invariant, Verdict } from './invariant.ts';
import { Disks, lostDisk } from './reading-disks.ts';
import { openFrame, refusalOf, type SentEnvelope } from './reading-frames.ts';
import { Holders, isWritten } from './reading-holders.ts';
import { Lines } from './reading-lines.ts';
import { counterOf, isEnded, isMarked } from './reading-records.ts';

type FrameRecord = Extract<HistoryRecord, { readonly type: 'frame' }>;

/** MS-5. A sender that hears that a message was taken can rely on it. */
export const acknowledgedIsDurable: Invariant = {
  id: 'MS-5',
  kind: 'safety',
  says: 'When a node acknowledges a message, the mark of it is in the durable record of the actor that took it, unless it only asked or its sender had given it up before a question; when it says that an actor has ended, that end is.',
  watch: ({ places }, verdict) => {
    const disks = new Disks();
    const questions = new Questions();
    return {
      question: ({ from, counter, address, event }) => {
        if (from !== undefined) questions.taken(from, counter as number, address, event);
      },
      turn: ({ address, event }) => questions.turned(address, event),
      commit: (record) => disks.commit(record),
      fault: (record) => disks.fault(record),
      frame: (record) => {
        if (record.change !== 'sent') return;
        const { envelopes, receipts } = openFrame(record.frame);
        for (const envelope of envelopes) questions.sent(envelope);
        for (const receipt of receipts) {
          const place = placeOf(receipt.to);
          if (places[record.node] !== place || !disks.isKept(place)) continue;
          if (!questions.covers(receipt))
            judgeReceipt(receipt, disks.of(receipt.to), verdict, record);
        }
      },
    };
  },
};

/**
 * Questions that were taken without a turn. Each names the message before it that its receiver must have: what
 * its sender sent between the two it has given up, and a late copy of that is answered like a copy of the question.
 * A sender that lies asks another question under the address of one that is open: it is taken for a copy too.
 */
class Questions {
  readonly #sent = new Map<string, Map<number, SentEnvelope>>();
  readonly #taken = new Map<string, Array<readonly [after: number, counter: number]>>();
  /** Addresses for answers, by who was asked: whatever session named them. */
  readonly #asked = new Set<string>();
  /** Types of events that took a turn, by kind: none of them only asks. */
  readonly #turned = new Set<string>();

  sent(envelope: SentEnvelope): void {
    const pair = `${envelope.from} ${envelope.to}`;
    const sent = this.#sent.get(pair) ?? new Map<number, SentEnvelope>();
    this.#sent.set(pair, sent.set(envelope.counter, envelope));
  }

  turned(address: string, event: Question): void {
    this.#turned.add(`${kindOf(address)} ${event?.type}`);
  }

  taken(from: string, counter: number, to: string, event: Question): void {
    const pair = `${from} ${to}`;
    const after = this.#sent.get(pair)?.get(counter)?.after ?? counter - 1;
    const taken = this.#taken.get(pair) ?? [];
    taken.push([after, counter]);
    this.#taken.set(pair, taken);
    this.#asked.add(`${to} ${event?.replyTo}`);
  }

  covers({ from, to, counter }: Receipt): boolean {
    const pair = `${from} ${to}`;
    const taken = this.#taken.get(pair) ?? [];
    if (taken.some(([after, last]) => after < counter && counter <= last)) return true;
    const event = this.#sent.get(pair)?.get(counter)?.event;
    if (event?.replyTo === undefined) return false;
    const isCommand = this.#turned.has(`${kindOf(to)} ${event.type}`);
    return !isCommand && this.#asked.has(`${to} ${event.replyTo}`);
  }
}

type Question = SentEnvelope['event'];

/** An actor without a record was removed, long after it had ended. */
function judgeReceipt(
  receipt: Receipt,
  text: string | undefined,
  verdict: Verdict,
  record: FrameRecord,
): void {
  const { from, to, counter } = receipt;
  const refusal = refusalOf(receipt);
  const isTaken = refusal === undefined || refusal === 'TURN_FAILED';
  if (isTaken) {
    verdict.exercised();
    if (text !== undefined && isMarked(text, from, counter)) return;
    const what = `Message ${counter} of ${from} to ${to} was acknowledged and is not marked on disk.`;
    verdict.broken(what, record);
  } else if (refusal === 'ACTOR_ENDED') {
    verdict.exercised();
    if (text !== undefined && !isEnded(text))
      verdict.broken(`${to} was said to have ended, and on disk it has not.`, record);
  }
}

/** MS-11. Nothing leaves a node before the record of its turn is durable. */
export const durableBeforeShown: Invariant = {
  id: 'MS-11',
  kind: 'safety',
  says: 'A turn is shown, and a message of it leaves the node, only after the record that holds them is durable.',
  watch: ({ places }, verdict) => {
    const disks = new Disks();
    const lines = new Lines();
    /** Counter up to which the messages of each actor are known to be durable. */
    const counters = new Map<string, number>();
    const isDurable = (from: string, counter: number): boolean => {
      if (counter <= (counters.get(from) ?? 0)) return true;
      const text = disks.of(from);
      const known = text === undefined ? 0 : counterOf(text);
      counters.set(from, known);
      return counter <= known;
    };
    const judgeEnvelope = ({ from, to, counter }: SentEnvelope, record: FrameRecord): void => {
      const place = placeOf(from);
      // Sessions and requests are senders without a record; whose it is, the place says.
      if (places[record.node] !== place || !disks.isKept(place) || !isWholeAddress(from)) return;
      verdict.exercised();
      if (isDurable(from, counter)) return;
      const what = `Message ${counter} of ${from} to ${to} has left and is not in its record on disk.`;
      verdict.broken(what, record);
    };
    return {
      node: (record) => lines.node(record),
      commit: (record) => {
        lines.commit(record);
        disks.commit(record);
        if (!isWritten(record)) return;
        for (const { address, record: text } of record.writes)
          if (text === null) counters.delete(address);
      },
      fault: (record) => {
        lines.fault(record);
        disks.fault(record);
        if (lostDisk(record) !== undefined) counters.clear();
      },
      turn: (record) => {
        const placed = lines.turn(record);
        if (placed === undefined) return;
        verdict.exercised();
        if (placed.order !== 'unwritten') return;
        const what = `Turn ${record.turn} of ${record.address} was shown; ${placed.expected} are durable.`;
        verdict.broken(what, record);
      },
      sent: (record) => {
        if (!disks.isKept(record.place) || isDurable(record.from, record.counter)) return;
        const what = `Message ${record.counter} of ${record.from} was shown and is not durable.`;
        verdict.broken(what, record);
      },
      frame: (record) => {
        if (record.change !== 'sent') return;
        for (const envelope of openFrame(record.frame).envelopes) judgeEnvelope(envelope, record);
      },
    };
  },
};

/** MS-13. The store knows the newest holder and takes nothing from those before. */
export const deposedIsRefused: Invariant = {
  id: 'MS-13',
  kind: 'safety',
  says: 'A group with a fence below the highest that its shard has seen is refused, whatever records it is about, and no two holders write under one fence.',
  watch: (_, verdict) => {
    const holders = new Holders();
    const highest = new Map<string, { readonly fence: number; readonly holder: number }>();
    return {
      node: (record) => holders.node(record),
      fault: (record) => {
        const place = lostDisk(record);
        if (place !== undefined) highest.delete(place);
      },
      commit: (record) => {
        const { shard, fence, node, change } = record;
        const known = highest.get(shard);
        const isOld = known !== undefined && fence < known.fence;
        if (isOld) verdict.exercised();
        // One that the node did not live to see settled may still come to nothing.
        if (!isWritten(record)) return;
        const holder = holders.ofCommit(record);
        if (isOld) {
          const what = `Fence ${fence} of ${node} was ${change}, though "${shard}" has seen ${known.fence}.`;
          verdict.broken(what, record);
        } else if (known?.fence === fence && known.holder !== holder) {
          verdict.broken(
            `${node} writes "${shard}" under fence ${fence} of another holder.`,
            record,
          );
        } else if (known?.fence !== fence) {
          verdict.exercised();
          highest.set(shard, { fence, holder });
        }
      },
    };
  },
};
