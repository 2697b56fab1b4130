/**
 * A frame that was good, made bad in one place: the shape of what nodes say to each other stays, so
 * that most of it gets past the first check.
 *
 * `tame` ones are JSON of the right shape with something wrong inside: a receiver refuses them one by
 * one. `harsh` ones are what ends a connection when there are enough of them.
 */

import type { Sample } from './corpus.ts';
import type { Dice } from './dice.ts';
import { largeValue, Raw, smallValue, written } from './hostile-values.ts';

type Fields = Record<string, unknown>;

/** What of an envelope the session decides, so that it is not taken for a repetition. */
export interface Numbering {
  counter: number;
}

const ENVELOPES_MAX = 4;

/** A frame of envelopes of this role, each with something wrong, or with nothing. */
export function tameFrame(dice: Dice, samples: readonly Sample[], numbering: Numbering): string {
  const envelopes: string[] = [];
  for (let left = 1 + dice.below(ENVELOPES_MAX); left > 0; left -= 1) {
    const envelope = numbered(structuredClone(dice.pick(samples).envelope), numbering, dice);
    const event = envelope.event as Fields;
    if (dice.isLucky(0.9)) spoil(dice, event);
    envelopes.push(written(envelope));
  }
  return `{"v":1,"envelopes":[${envelopes.join(',')}],"receipts":[${receipts(dice, samples)}]}`;
}

/** A frame that breaks the rules of frames. */
export function harshFrame(dice: Dice, samples: readonly Sample[], numbering: Numbering): string {
  const envelope = numbered(structuredClone(dice.pick(samples).envelope), numbering, dice);
  const text = (): string => `{"v":1,"envelopes":[${written(envelope)}],"receipts":[]}`;
  switch (dice.below(10)) {
    case 0:
      return brokenText(dice, text());
    case 1:
      return dice.pick(['{', '""', 'null', '[]', '1', '', ' ', '{"v":1', '{"v":2}', '{"v":"1"}']);
    case 2:
      envelope[dice.pick(['to', 'from', 'counter', 'after', 'event'])] = smallValue(dice);
      return text();
    case 3:
      delete envelope[dice.pick(['to', 'from', 'counter', 'after', 'event'])];
      return text();
    case 4:
      put(envelope.event as Fields, dice, largeValue(dice));
      return text();
    case 5:
      return forged(dice, envelope);
    case 6:
      return badHello(dice);
    case 7:
      return badFragments(dice, text());
    case 8:
      return badBatch(dice, envelope);
    default:
      return `{"v":1,"envelopes":${written(smallValue(dice))},"receipts":${written(smallValue(dice))}}`;
  }
}

/** Messages that share an entry: too many, too few, or with numbers that are none. */
function badBatch(dice: Dice, { counter, event, ...fields }: Fields): string {
  const count = dice.pick([0, 1, 2, 64, 65, 1_000]);
  const first = Number(counter);
  const counters: unknown[] = Array.from({ length: count }, (_, index) => first + index);
  const events: unknown[] = Array.from({ length: count }, () => event);
  if (dice.isLucky(0.5)) dice.pick([counters, events]).push(smallValue(dice));
  if (dice.isLucky(0.5)) dice.pick([counters, events])[0] = smallValue(dice);
  const batch = written({ ...fields, counters, events });
  return `{"v":1,"envelopes":[${batch}],"receipts":[${dice.isLucky(0.5) ? batch : ''}]}`;
}

/** As another peer, for another peer, or as the runtime itself. */
function forged(dice: Dice, envelope: Fields): string {
  const event = envelope.event as Fields;
  const others = ['job/kept@A', 'gate-job/kept@gate', 'worker-health/w@A', 'session:x@A', 'x/y@Z'];
  dice.pick([
    () => {
      envelope.from = dice.pick(others);
    },
    () => {
      event.replyTo = dice.pick([...others, 'ask/1@A', '']);
    },
    () => {
      event.type = dice.pick(['escapement.spawn', 'escapement.fetch', 'escapement.reply']);
    },
  ])();
  return `{"v":1,"envelopes":[${written(envelope)}],"receipts":[]}`;
}

function badHello(dice: Dice): string {
  const place = (): unknown =>
    dice.pick([
      [['A', 1]],
      [['A', 2 ** 53 - 1]],
      [['gate', 9]],
      [['B']],
      'A',
      [[]],
      smallValue(dice),
    ]);
  const hello: Fields = { node: dice.pick(['A.manager-1', 'gate', 'x', 1]), places: place() };
  if (dice.isLucky(0.5)) hello.outranked = place();
  hello.isAsking = smallValue(dice);
  return `{"v":1,"hello":${written(hello)}}`;
}

/** Fragments of a frame that do not follow each other, or are not what was announced. */
function badFragments(dice: Dice, text: string): string {
  const id = 1 + dice.below(1_000);
  const [index, of] = dice.pick([
    [1, 2],
    [2, 2],
    [1, 1],
    [0, 3],
    [3, 2],
    [1, 1_025],
    [1, 99_999],
  ] as const);
  const bytes = dice.pick([0, 1, text.length, 10 ** 11]);
  return dice.isLucky(0.2)
    ? `p1:${String(smallValue(dice)).slice(0, 30)}:`
    : `p1:${id}:${index}:${of}:${bytes}:${text}`;
}

function brokenText(dice: Dice, text: string): string {
  const at = dice.below(text.length);
  const letter = String.fromCharCode(dice.below(128));
  return dice.pick([
    () => text.slice(0, at),
    () => `${text.slice(0, at)}${letter}${text.slice(at + 1)}`,
    () => `${text}${letter}`,
    () => `${text.slice(0, at)}${text.slice(at).repeat(2)}`,
  ])();
}

/** One thing about an event: a field that is wrong, missing or too many, or another event's name. */
function spoil(dice: Dice, event: Fields): void {
  const names = Object.keys(event).filter((name) => name !== 'type');
  switch (dice.below(5)) {
    case 0:
      put(event, dice, smallValue(dice));
      break;
    case 1:
      delete event[dice.pick(names.length === 0 ? ['none'] : names)];
      break;
    case 2:
      event[dice.pick(['extra', 'at', 'dueAt', 'fence', 'toString'])] = tame(smallValue(dice));
      break;
    case 3:
      event.type = dice.pick(['job.ended', 'no.such', 'x', 'job.submitted', 'worker.registered']);
      break;
    default:
      put(event, dice, smallValue(dice));
  }
  // A name that is reserved, and an answer for somebody else, are harsh.
  if (event.type !== undefined && typeof event.type !== 'string') event.type = 'x';
  if (event.replyTo !== undefined && typeof event.replyTo !== 'string') delete event.replyTo;
}

/** Replaces some field, maybe one deeper inside. */
function put(fields: Fields, dice: Dice, value: unknown): void {
  const names = Object.keys(fields).filter((name) => name !== 'type' && name !== 'replyTo');
  if (names.length === 0) {
    fields.extra = value;
    return;
  }
  const name = dice.pick(names);
  const inner = fields[name];
  const isDeeper = typeof inner === 'object' && inner !== null && !(inner instanceof Raw);
  if (isDeeper && dice.isLucky(0.6)) put(inner as Fields, dice, value);
  else fields[name] = tame(value);
}

/** Keys that no receiver takes are harsh, wherever they stand. */
function tame(value: unknown): unknown {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { odd: 1 } : value;
}

/** An answer to something that was never sent. */
function receipts(dice: Dice, samples: readonly Sample[]): string {
  const { from, to } = dice.pick(samples).envelope;
  // Sessions are senders and no actors: nobody answers in their name.
  if (dice.isLucky(0.8) || String(from).includes(':')) return '';
  const receipt = { from: to, to: from, counter: dice.below(1_000) };
  return written(dice.isLucky(0.5) ? receipt : { ...receipt, error: smallValue(dice) });
}

function numbered(envelope: Fields, numbering: Numbering, dice: Dice): Fields {
  if (envelope.counter === 0) return envelope;
  // Now and then one that was used already, with another body.
  const isRepeated = dice.isLucky(0.05);
  if (!isRepeated) numbering.counter += 1;
  envelope.counter = Math.max(1, numbering.counter);
  envelope.after = 0;
  return envelope;
}
