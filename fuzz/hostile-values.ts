/**
 * Values that some program or other has stumbled over, and how to write them where JSON has no words.
 *
 * Some are a threat by what they are, some by where they stand. Large ones are few and far between, so
 * that a run is not mostly about copying bytes.
 */

import type { Dice } from './dice.ts';

/** Text that goes into a frame as it is, JSON or not. */
export class Raw {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** No larger than what a well-meaning peer sends. */
const SMALL: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  -0.0,
  0.5,
  1.0000001,
  1.5,
  -(2 ** 31),
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  1e308,
  -1e308,
  5e-324,
  new Raw('-0'),
  new Raw('1e999'),
  new Raw('-1e999'),
  '',
  ' ',
  '2',
  'NaN',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'xstate.stop',
  'xstate.init',
  'xstate.after.1000.job',
  'xstate.done.actor.job',
  'xstate.error.actor.job',
  'escapement.spawn',
  'escapement.reply',
  'escapement.fetch',
  '*',
  '../../../etc/passwd',
  'file:///etc/passwd',
  'http://169.254.169.254/',
  'localhost:22',
  "'; DROP TABLE jobs; --",
  '{{7*7}}',
  '<img src=x>',
  'a\u0000b',
  '\u202Egnp.exe',
  '\uD800',
  '🧨'.repeat(3),
  'a'.repeat(129),
  'a'.repeat(1_025),
  'job/kept@A',
  'desk/main@A',
  'desk/main@gate',
  'worker-pool/main@A',
  'session:x@A',
  'request:x',
  'ask/1@A',
  'job//@A',
  '@',
  [],
  {},
  [[]],
  [null],
  { type: 'x' },
  [1, 2, 3],
  Object.defineProperty({}, '__proto__', { value: { isAdmin: true }, enumerable: true }),
  { constructor: { prototype: { isAdmin: true } } },
];

/** Larger, deeper or wider than anything that is allowed. */
const LARGE: ReadonlyArray<(dice: Dice) => unknown> = [
  () => 'x'.repeat(8 * 1024 + 1),
  () => 'x'.repeat(64 * 1024 + 1),
  () => '\\u0000'.repeat(2_000),
  () => new Raw('9'.repeat(10_000)),
  () => new Raw(`${'['.repeat(40)}${']'.repeat(40)}`),
  () => new Raw(`${'['.repeat(10_000)}${']'.repeat(10_000)}`),
  () => new Raw('{"a":'.repeat(5_000)),
  () => new Raw(`${'{"a":'.repeat(34)}1${'}'.repeat(34)}`),
  () => Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`k${index}`, index])),
  () => Array.from({ length: 20_000 }, (_, index) => index),
  (dice) => 'é'.repeat(1 + dice.below(30_000)),
];

const HUGE: ReadonlyArray<(dice: Dice) => unknown> = [
  () => 'x'.repeat(1_000_000),
  () => new Raw('['.repeat(500_000)),
  () => new Raw(`{${Array.from({ length: 60_000 }, (_, index) => `"k${index}":1`).join(',')}}`),
  () => new Raw('9'.repeat(500_000)),
];

export function smallValue(dice: Dice): unknown {
  return dice.pick(SMALL);
}

export function largeValue(dice: Dice): unknown {
  return dice.pick(dice.isLucky(0.02) ? HUGE : LARGE)(dice);
}

/** As JSON, with what has no words in JSON as it is. */
export function written(value: unknown): string {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).map(
    ([name, field]) => `${JSON.stringify(name)}:${written(field)}`,
  );
  return `{${fields.join(',')}}`;
}
