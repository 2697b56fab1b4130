/**
 * Compares a result with what was expected of it: a sentence for each value that is something else.
 *
 * Guarantees: every expected key is looked at, in the order of the result; what nobody expected is
 * not. A range has both its ends. Names in a list may come in any order.
 */

import type { Expectation, Expected, ExpectedMap } from './expectation.ts';

/** Sentences, in the order of the result. */
export function findMisses(expect: Expectation, result: object): readonly string[] {
  const misses: string[] = [];
  compareMap(expect, result, '', misses);
  return misses;
}

function compareMap(expected: ExpectedMap, got: object, path: string, misses: string[]): void {
  for (const [name, value] of expected) {
    const found = Object.hasOwn(got, name) ? (got as Record<string, unknown>)[name] : undefined;
    compare(value, found, path === '' ? name : `${path}.${name}`, misses);
  }
}

function compare(expected: Expected, got: unknown, path: string, misses: string[]): void {
  if (expected instanceof Map && typeof got === 'object' && got !== null) {
    compareMap(expected, got, path, misses);
    return;
  }
  if (isMet(expected, got)) return;
  misses.push(`${path}: expected ${describeExpected(expected)}, got ${describeGot(got)}`);
}

function isMet(expected: Expected, got: unknown): boolean {
  if (expected === null) return got === null || got === undefined;
  if (isNames(expected)) return Array.isArray(got) && areSame(expected, got);
  if (isRange(expected))
    return typeof got === 'number' && got >= expected.from && got <= expected.to;
  return expected === got;
}

function areSame(expected: readonly string[], got: readonly unknown[]): boolean {
  const wanted = new Set<unknown>(expected);
  return got.length === wanted.size && got.every((name) => wanted.has(name));
}

function isNames(expected: Expected): expected is readonly string[] {
  return Array.isArray(expected);
}

function isRange(expected: Expected): expected is Extract<Expected, { readonly from: number }> {
  return typeof expected === 'object' && expected !== null && 'from' in expected;
}

function describeExpected(expected: Expected): string {
  if (expected === null) return 'nothing';
  if (isNames(expected)) return expected.length === 0 ? 'none' : expected.join(', ');
  if (isRange(expected)) return `${expected.from} to ${expected.to}`;
  // The map itself is missing: what it should have says more than that it should be there.
  if (expected instanceof Map)
    return [...expected].map(([name, value]) => `${name} ${describeExpected(value)}`).join(', ');
  return String(expected);
}

function describeGot(got: unknown): string {
  if (got === null || got === undefined) return 'nothing';
  if (Array.isArray(got)) return got.length === 0 ? 'none' : got.join(', ');
  return typeof got === 'object' ? 'something else' : String(got);
}
