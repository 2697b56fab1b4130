/**
 * Causes of a record of a history: the message that a turn took, the turn that sent it, the turn that armed
 * a deadline, the client that asked.
 *
 * Guarantees: a cause is a record before its effect, and it is the one itself where the history says
 * so: identities of messages, effects and deadlines. Where it does not, `before` is said: the last
 * thing that happened about the same subject on the same node. It reads frames as text, because they may be
 * damaged.
 */

import type { HistoryRecord, RecordOf, SentFact, TimersFact, TurnFact } from '../history.ts';
import { deadlineOf } from './record-words.ts';
import { spelledFrame } from './spelled-frame.ts';
import { NO_SUBJECTS, type Subjects, type WorkRecord } from './subjects.ts';

export type TurnRecord = RecordOf<TurnFact>;
export type SentRecord = RecordOf<SentFact>;
type QuestionRecord = Extract<HistoryRecord, { readonly type: 'question' }>;
type TimersRecord = RecordOf<TimersFact>;
type NodeRecord = Extract<HistoryRecord, { readonly type: 'node' }>;
export type FrameRecord = Extract<HistoryRecord, { readonly type: 'frame' }>;

export interface Cause {
  readonly record: HistoryRecord;
  readonly by: 'message' | 'hint' | 'deadline' | 'effect' | 'turn' | 'call' | 'before';
  /** The message on its way, where it had one that was not straight. */
  readonly frames: readonly FrameRecord[];
}

const NO_FRAMES: readonly FrameRecord[] = [];
/** `effect:ADDRESS#TURN.NUMBER.MOMENT`. */
const EFFECT = /^effect:(.+)#(\d+)\.\d+\.\d+$/;
const IDENTITY = /"from":"([^"]+)","counter":(\d+)/;

export class Causes {
  readonly #records: readonly HistoryRecord[];
  readonly #subjects: Subjects;
  readonly #turns = new Map<string, TurnRecord[]>();
  readonly #timers = new Map<string, TimersRecord[]>();
  readonly #sent = new Map<string, SentRecord>();

  constructor(records: readonly HistoryRecord[], subjects: Subjects = NO_SUBJECTS) {
    this.#records = records;
    this.#subjects = subjects;
    for (const record of records) {
      if (record.type === 'turn') listIn(this.#turns, record.address).push(record);
      else if (record.type === 'timers') listIn(this.#timers, record.address).push(record);
      // A sender that repeats what a crash had undone means the same message.
      else if (record.type === 'sent')
        this.#sent.set(identityOf(record.from, record.counter), record);
    }
  }

  of(record: HistoryRecord): Cause | undefined {
    const cause = this.#causeOf(record);
    return cause !== undefined && cause.record.index !== record.index ? cause : undefined;
  }

  /** The record that sent the message of a turn. */
  sentOf({ from, counter, index }: TurnRecord): SentRecord | undefined {
    if (from === undefined || counter === undefined || counter === 0) return undefined;
    const sent = this.#sent.get(identityOf(from, counter));
    return sent !== undefined && sent.index < index ? sent : undefined;
  }

  /** The last turn of an actor that is mentioned in a text, the longest address first. */
  lastOfActorIn(text: string): TurnRecord | undefined {
    const named = [...this.#turns.keys()].filter((address) => text.includes(address));
    const address = named.sort((one, other) => other.length - one.length)[0];
    return address === undefined ? undefined : this.#turns.get(address)?.at(-1);
  }

  /** The last turn of an actor before a record, or at it. */
  lastTurn(address: string, index: number): TurnRecord | undefined {
    return this.#turns.get(address)?.findLast((turn) => turn.index <= index);
  }

  #causeOf(record: HistoryRecord): Cause | undefined {
    switch (record.type) {
      case 'turn':
        return this.#ofTurn(record);
      case 'question':
        return this.#ofBrought(record);
      case 'sent':
        return caused('turn', this.lastTurn(record.from, record.index));
      case 'timers':
      case 'actor':
        return caused('turn', this.lastTurn(record.address, record.index));
      case 'commit':
        return caused('turn', this.lastTurn(record.writes[0]?.address ?? '', record.index));
      case 'frame':
        return this.#ofFrame(record);
      case 'log':
        return caused(
          'before',
          this.#noting(record) ?? this.#lastAbout(record, this.#subjects.of(record)),
        );
      case 'work':
        return caused('before', this.#turnBefore(record));
      case 'lease':
        return caused('before', this.#changeOf(record.node, record.place, record.index));
      case 'node':
        return caused('before', this.#faultBehind(record));
      case 'answer':
        return caused('call', this.#callOf(record.call, record.index));
      default:
        return undefined;
    }
  }

  #ofTurn(record: TurnRecord): Cause | undefined {
    const { from, counter, event } = record;
    if (deadlineOf(record) !== undefined) return caused('deadline', this.#arming(record));
    if (from === undefined) {
      const work = this.#subjects.isOfWork(event) ? this.#workBefore(record) : undefined;
      return caused(
        'before',
        work ?? this.#lastOfSelf(record) ?? this.#lastAbout(record, this.#subjects.of(record)),
      );
    }
    const effect = EFFECT.exec(from);
    if (effect !== null) return caused('effect', this.#turn(effect[1] ?? '', Number(effect[2])));
    if (counter === undefined || counter === 0) return this.#ofHint(record, from);
    const sent = this.sentOf(record);
    if (sent === undefined) return this.#ofBrought(record);
    return { record: sent, by: 'message', frames: detours(this.#framesOf(record)) };
  }

  #framesOf({ index, from, counter }: TurnRecord | QuestionRecord): readonly FrameRecord[] {
    return this.#frames(index, [`"from":${JSON.stringify(from)},"counter":${counter},`]);
  }

  /** The first frame that brought it, and so who sent it. */
  #ofBrought(record: TurnRecord | QuestionRecord): Cause | undefined {
    const frames = this.#framesOf(record);
    const first = frames.find(({ change }) => change === 'sent');
    const said = first && this.#ofFrame(first);
    return said && { ...said, frames: detours(frames) };
  }

  /** A hint has no identity: the frame that brought it is the last one with such an event. */
  #ofHint(record: TurnRecord, from: string): Cause | undefined {
    const { address, event, index } = record;
    const texts = [
      `"to":${JSON.stringify(address)},"from":${JSON.stringify(from)},"counter":0,`,
      JSON.stringify(event).slice(0, -1),
    ];
    const frames = this.#frames(index, texts);
    const last = frames.findLast(({ change }) => change === 'delivered');
    const sent = last && frames.find((one) => one.change === 'sent' && one.frame === last.frame);
    const turn = this.lastTurn(from, (sent ?? record).index - 1);
    return turn && { record: turn, by: 'hint', frames: detours(frames) };
  }

  /** Who sent it first: an actor, or a client, or a program that acts for one. */
  #ofFrame(record: FrameRecord): Cause | undefined {
    if (record.change !== 'sent') {
      const isThis = (one: HistoryRecord): boolean =>
        one.type === 'frame' && one.change === 'sent' && one.frame === record.frame;
      return caused('turn', this.#last(record.index, isThis));
    }
    const [, from = '', counter = ''] = IDENTITY.exec(spelledFrame(record.frame)) ?? [];
    const sent = this.#sent.get(identityOf(from, Number(counter)));
    if (sent !== undefined && sent.index < record.index) return caused('message', sent);
    const subject = this.#subjects.inFrame(record.frame);
    const isCall = (one: HistoryRecord): boolean =>
      one.type === 'call' && one.node === record.node && this.#subjects.of(one) === subject;
    const call = this.#last(record.index, isCall);
    if (call !== undefined) return caused('call', call);
    return caused('before', this.#lastAbout(record, subject));
  }

  /** The turn after which the deadline stood there for the first time, for the same moment. */
  #arming({ address, event, index }: TurnRecord): TurnRecord | undefined {
    const timers = this.#timers.get(address) ?? [];
    let at = timers.findLastIndex((one) => one.index < index);
    const dueAt = dueIn(timers[at], event.type);
    if (dueAt === undefined) return undefined;
    while (at > 0 && dueIn(timers[at - 1], event.type) === dueAt) at -= 1;
    return this.lastTurn(address, timers[at]?.index ?? 0);
  }

  #turn(address: string, turn: number): TurnRecord | undefined {
    return this.#turns.get(address)?.findLast((one) => one.turn === turn);
  }

  /** The turn that noted it was told of a moment later; its message is what counts. */
  #noting(record: Extract<HistoryRecord, { readonly type: 'log' }>): HistoryRecord | undefined {
    const subject = this.#subjects.of(record);
    if (subject === undefined) return undefined;
    const { at } = record.fields;
    const turn = this.#records
      .slice(record.index + 1, record.index + 40)
      .find((one) => one.type === 'turn' && one.node === record.node && one.takenAt === at);
    return turn !== undefined && this.#subjects.of(turn) === subject
      ? this.of(turn)?.record
      : undefined;
  }

  /** Who led before, or what had become of the node. */
  #changeOf(node: string, place: string, index: number): HistoryRecord | undefined {
    return this.#last(
      index,
      (one) =>
        (one.type === 'lease' && one.place === place) || (one.type === 'node' && one.node === node),
    );
  }

  /** A fault says what it did in the moment in which it does it; a node that starts had gone down before. */
  #faultBehind({ node, index, change }: NodeRecord): HistoryRecord | undefined {
    const told = this.#records
      .slice(Math.max(0, index - 5), index + 6)
      .find((one) => one.type === 'fault' && JSON.stringify(one.about).includes(`"${node}"`));
    const isBegin = (one: HistoryRecord): boolean =>
      told?.type === 'fault' &&
      one.type === 'fault' &&
      one.id === told.id &&
      one.change === 'began';
    if (told !== undefined && change !== 'started') return this.#last(index, isBegin);
    return this.#last(index, (one) => one.type === 'node' && one.node === node);
  }

  #callOf(call: string, index: number): HistoryRecord | undefined {
    return this.#last(index, (one) => one.type === 'call' && one.call === call);
  }

  /** What was done last for an actor, and the other way round. */
  #workBefore({ node, address, index }: TurnRecord): HistoryRecord | undefined {
    const isSame = (one: HistoryRecord): boolean =>
      one.type === 'work' && one.node === node && this.#subjects.isWorkFor(one, address);
    return this.#last(index, isSame);
  }

  #turnBefore(work: WorkRecord): HistoryRecord | undefined {
    const isSame = (one: HistoryRecord): boolean =>
      one.type === 'turn' && one.node === work.node && this.#subjects.isWorkFor(work, one.address);
    return this.#last(work.index, isSame);
  }

  /** What somebody does for an actor comes back to it. */
  #lastOfSelf({ address, turn, index }: TurnRecord): TurnRecord | undefined {
    return turn > 1 ? this.lastTurn(address, index - 1) : undefined;
  }

  /** Siblings are made by the same turn of another kind, and not by each other. */
  #lastAbout(record: HistoryRecord, subject: string | undefined): HistoryRecord | undefined {
    if (subject === undefined) return undefined;
    const { node, index } = record;
    const own = record.type === 'turn' ? record.kind : undefined;
    const isAbout = (one: HistoryRecord): boolean =>
      (one.type === 'turn' || one.type === 'question') &&
      one.node === node &&
      one.kind !== own &&
      this.#subjects.of(one) === subject;
    return this.#last(index, isAbout);
  }

  #last(index: number, is: (record: HistoryRecord) => boolean): HistoryRecord | undefined {
    for (let at = index - 1; at >= 0; at -= 1) {
      const record = this.#records[at] as HistoryRecord;
      if (is(record)) return record;
    }
    return undefined;
  }

  /** Frames before a record that carry all these texts. */
  #frames(index: number, texts: readonly string[]): FrameRecord[] {
    const isIt = (record: HistoryRecord): record is FrameRecord =>
      record.type === 'frame' && texts.every((text) => spelledFrame(record.frame).includes(text));
    return this.#records.slice(0, index).filter(isIt);
  }
}

/** A message that was sent once and arrived needs no more words. */
function detours(frames: readonly FrameRecord[]): readonly FrameRecord[] {
  const isStraight = frames.every(
    ({ change }, index) => change === 'delivered' || (change === 'sent' && index === 0),
  );
  return isStraight ? NO_FRAMES : frames;
}

function caused(by: Cause['by'], record: HistoryRecord | undefined): Cause | undefined {
  return record && { record, by, frames: NO_FRAMES };
}

function dueIn(record: TimersRecord | undefined, id: string): number | undefined {
  return record?.timers.find((timer) => timer.id === id)?.dueAt;
}

function identityOf(from: string, counter: number): string {
  return `${counter} ${from}`;
}

function listIn<T>(lists: Map<string, T[]>, name: string): T[] {
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  return list;
}
