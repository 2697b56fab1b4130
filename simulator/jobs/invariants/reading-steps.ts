/**
 * Steps of a kind of actor: what each turn found and what it left, one after the other.
 *
 * A turn may be durable and yet be in no record, because its node died before it could tell: the
 * next one that is seen then has a gap before it, and what it found is read from the last group
 * that holds the actor. All invariants of one run share a reading, so each record is read once.
 */

import type { HistoryRecord } from '../../history.ts';
import { type CommitRecord, isWritten, turnsOf } from '../../invariants.ts';

export type TurnRecord = Extract<HistoryRecord, { readonly type: 'turn' }>;

export interface Step<TContext> {
  readonly record: TurnRecord;
  /** What was durable before it; undefined at a spawn, and after a gap of which nothing is known. */
  readonly before: TContext | undefined;
  readonly stateBefore: string | undefined;
  readonly after: TContext;
  /** There were turns before it that nobody saw: what is counted by events begins again from `before`. */
  readonly hasGap: boolean;
}

/** How an actor stands, as far as anybody knows. */
export interface Standing<TContext> {
  readonly address: string;
  readonly place: string;
  readonly context: TContext;
  readonly state: string;
  /** When its last turn was taken, by its node's clock, and when it was told, in true time. */
  readonly takenAt: number;
  readonly atMs: number;
}

interface Known {
  last: TurnRecord | undefined;
  /** In the store now, and before the last commit of it. */
  text: string | undefined;
  textBefore: string | undefined;
  /** When the last commit of it was settled, and where. */
  storedAtMs: number;
  place: string;
}

interface Image {
  readonly turns: number;
  readonly at: number;
  readonly snapshot: { readonly value: unknown; readonly context: unknown };
}

const SPAWN_TYPE = 'escapement.spawn';

export class Steps<TContext> {
  readonly #kind: string;
  readonly #prefix: string;
  readonly #known = new Map<string, Known>();
  #turn: TurnRecord | undefined;
  #step: Step<TContext> | undefined;
  #commit: CommitRecord | undefined;

  constructor(kind: string) {
    this.#kind = kind;
    this.#prefix = `${kind}/`;
  }

  /** What the turn did; undefined for one of another kind, and for one that changed nothing. */
  step(record: TurnRecord): Step<TContext> | undefined {
    if (record === this.#turn) return this.#step;
    this.#turn = record;
    this.#step = record.kind === this.#kind ? this.#take(record) : undefined;
    return this.#step;
  }

  commit(record: CommitRecord): void {
    if (record === this.#commit) return;
    this.#commit = record;
    if (!isWritten(record)) return;
    for (const { address, record: text } of record.writes) {
      if (!address.startsWith(this.#prefix)) continue;
      // Forgotten for good: the next actor of the address is another one.
      if (text === null) this.#known.delete(address);
      else this.#store(address, text, record);
    }
  }

  /** The data of a place are gone, or older than they were. */
  forget(place: string): void {
    for (const [address, { place: own }] of this.#known)
      if (own === place) this.#known.delete(address);
  }

  /** Whether the store has an actor. */
  isStored(address: string): boolean {
    return this.#known.get(address)?.text !== undefined;
  }

  /** What the store has of an actor; undefined when it has none. */
  stored(address: string): TContext | undefined {
    const text = this.#known.get(address)?.text;
    return text === undefined ? undefined : (imageOf(text).snapshot.context as TContext);
  }

  /** How all of them stand, those included whose last turn nobody saw. */
  *standing(): Iterable<Standing<TContext>> {
    for (const [address, known] of this.#known) {
      const { last, text, place, storedAtMs } = known;
      if (text !== undefined && turnsOf(text) > (last?.turn ?? 0)) {
        const { at, snapshot } = imageOf(text);
        const context = snapshot.context as TContext;
        const state = textOf(snapshot.value);
        yield { address, place, context, state, takenAt: at, atMs: storedAtMs };
      } else if (last !== undefined) {
        const { state, takenAt, atMs } = last;
        yield { address, place, context: last.context as TContext, state, takenAt, atMs };
      }
    }
  }

  /** The record as it is in the store. */
  text(address: string): string | undefined {
    return this.#known.get(address)?.text;
  }

  #store(address: string, text: string, { atMs, place }: CommitRecord): void {
    const known = this.#known.get(address);
    if (known === undefined) {
      const stored = { text, textBefore: undefined, storedAtMs: atMs, place };
      this.#known.set(address, { last: undefined, ...stored });
      return;
    }
    known.textBefore = known.text;
    known.text = text;
    known.storedAtMs = atMs;
  }

  #take(record: TurnRecord): Step<TContext> | undefined {
    const { address, place, turn, event } = record;
    let known = this.#known.get(address);
    if (known === undefined) {
      const nothing = { text: undefined, textBefore: undefined, storedAtMs: record.atMs };
      known = { last: undefined, ...nothing, place };
      this.#known.set(address, known);
    }
    const { last } = known;
    if (last !== undefined && turn <= last.turn && isTold(known, last)) return undefined;
    if (record.context === undefined || record.error !== undefined) {
      // It left the actor as it was, and still has a number.
      if (last !== undefined) known.last = { ...last, turn };
      return undefined;
    }
    known.last = record;
    const after = record.context as TContext;
    if (event.type === SPAWN_TYPE)
      return { record, before: undefined, stateBefore: undefined, after, hasGap: false };
    if (last !== undefined && turn === last.turn + 1) {
      const before = last.context as TContext;
      return { record, before, stateBefore: last.state, after, hasGap: false };
    }
    const image = imageBefore(known, turn);
    const before = image?.snapshot.context as TContext | undefined;
    const stateBefore = image === undefined ? undefined : textOf(image.snapshot.value);
    return { record, before, stateBefore, after, hasGap: true };
  }
}

/** A turn that is told late, behind those of another node: the store is past it. */
function isTold({ text }: Known, last: TurnRecord): boolean {
  return text === undefined || turnsOf(text) >= last.turn;
}

/** The newest image that is older than the turn. */
function imageBefore({ text, textBefore }: Known, turn: number): Image | undefined {
  for (const one of [text, textBefore])
    if (one !== undefined && turnsOf(one) < turn) return imageOf(one);
  return undefined;
}

function imageOf(text: string): Image {
  return JSON.parse(text) as Image;
}

/** As in a turn's record: one word or JSON. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
