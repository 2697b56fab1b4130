/**
 * Patches between two JSON values: add, remove and replace of RFC 6902. Pure.
 */

import type { PatchStep } from '../protocol.ts';

/** Steps that make `after` of `before`; empty where they are equal. */
export function diff(before: unknown, after: unknown, path = ''): PatchStep[] {
  if (Object.is(before, after)) return [];
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after))
    return [{ op: 'replace', path, value: after }];
  if (Array.isArray(before) && Array.isArray(after)) return diffLists(before, after, path);
  const steps: PatchStep[] = [];
  const [one, other] = [before as Record<string, unknown>, after as Record<string, unknown>];
  for (const key of Object.keys(one))
    if (!Object.hasOwn(other, key)) steps.push({ op: 'remove', path: below(path, key) });
  for (const [key, value] of Object.entries(other)) {
    if (Object.hasOwn(one, key)) steps.push(...diff(one[key], value, below(path, key)));
    else steps.push({ op: 'add', path: below(path, key), value });
  }
  return steps;
}

/** The value that the steps make of one; the one given stays as it is. Steps that fit nowhere are left out. */
export function patched(value: unknown, steps: readonly PatchStep[]): unknown {
  let root = value;
  for (const { op, path, value: put } of steps) {
    const keys = path.split('/').slice(1).map(unescaped);
    root = placed(root, keys, op, put);
  }
  return root;
}

function diffLists(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
): PatchStep[] {
  const steps: PatchStep[] = [];
  const shared = Math.min(before.length, after.length);
  for (let index = 0; index < shared; index += 1)
    steps.push(...diff(before[index], after[index], `${path}/${index}`));
  for (let index = before.length - 1; index >= after.length; index -= 1)
    steps.push({ op: 'remove', path: `${path}/${index}` });
  for (let index = before.length; index < after.length; index += 1)
    steps.push({ op: 'add', path: `${path}/${index}`, value: after[index] });
  return steps;
}

function placed(
  value: unknown,
  [key, ...rest]: readonly string[],
  op: PatchStep['op'],
  put: unknown,
): unknown {
  if (key === undefined) return op === 'remove' ? undefined : put;
  if (!isContainer(value)) return value;
  if (Array.isArray(value)) {
    const index = Number(key);
    const copy = value.slice();
    if (rest.length > 0) copy[index] = placed(copy[index], rest, op, put);
    else if (op === 'remove') copy.splice(index, 1);
    else if (op === 'add') copy.splice(index, 0, put);
    else copy[index] = put;
    return copy;
  }
  const copy = { ...(value as Record<string, unknown>) };
  if (rest.length === 0 && op === 'remove') delete copy[key];
  else {
    const next = rest.length === 0 ? put : placed(copy[key], rest, op, put);
    Object.defineProperty(copy, key, {
      value: next,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return copy;
}

const isContainer = (value: unknown): value is object =>
  typeof value === 'object' && value !== null;
const below = (path: string, key: string): string =>
  `${path}/${key.replace(/~/g, '~0').replace(/\//g, '~1')}`;
const unescaped = (key: string): string => key.replace(/~1/g, '/').replace(/~0/g, '~');
