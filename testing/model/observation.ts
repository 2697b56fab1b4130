/**
 * Observations: what a test looks at after each step, from all that can be seen down to the status alone.
 *
 * `full` is what a machine is: its state and its context. The coarser ones are for drivers of real systems
 * that show less. A machine that throws looks like nothing else.
 */

import type { AnyMachineSnapshot } from 'xstate';
import type { Subject } from './subject.ts';

export const ORACLES = ['full', 'value', 'tags', 'status'] as const;
export type Oracle = (typeof ORACLES)[number];

/** What an observer of a machine sees; a driver may leave out what its system does not show. */
export interface Observation {
  readonly status?: unknown;
  readonly value?: unknown;
  readonly context?: unknown;
  readonly output?: unknown;
  readonly tags?: readonly string[];
}

/** The one word that is seen of a machine that threw. */
const THREW = 'threw';

export function observed(subject: Subject, oracle: Oracle): string {
  return seenOf(subject.thrown === undefined ? subject.snapshot : undefined, oracle);
}

/** What is seen of a snapshot; of none where the machine threw. */
export function seenOf(snapshot: AnyMachineSnapshot | undefined, oracle: Oracle): string {
  if (snapshot === undefined) return THREW;
  const { status, value, context, output, tags } = snapshot;
  switch (oracle) {
    case 'full':
      return textOf([status, value, context, childrenOf(snapshot), output]);
    case 'value':
      return textOf([status, value]);
    case 'tags':
      return textOf([status, [...tags].sort()]);
    case 'status':
      return status;
  }
}

/** The finest oracle for what an observer shows. */
export function oracleFor({ context, value, tags }: Observation): Oracle {
  if (context !== undefined) return 'full';
  if (value !== undefined) return 'value';
  return tags === undefined ? 'status' : 'tags';
}

/** State values of children that are machines, by id; undefined where there are none. */
function childrenOf({ children }: AnyMachineSnapshot): unknown {
  const ids = Object.keys(children);
  if (ids.length === 0) return undefined;
  return ids.map((id) => {
    const { status, value } = (children[id]?.getSnapshot() ?? {}) as Observation;
    return [id, status, value];
  });
}

/** A value as text: what JSON would lose is told apart, what has no end is cut. */
export function textOf(value: unknown): string {
  const path: unknown[] = [];
  return JSON.stringify(value, function shown(this: unknown, _key: string, inner: unknown) {
    if (typeof inner === 'function') return `ƒ ${inner.name}`;
    if (typeof inner === 'bigint') return `${inner}n`;
    if (typeof inner === 'symbol') return String(inner);
    if (typeof inner === 'number' && !Number.isFinite(inner)) return String(inner);
    if (typeof inner !== 'object' || inner === null) return inner;
    while (path.length > 0 && path.at(-1) !== this) path.pop();
    if (path.includes(inner)) return '…';
    path.push(inner);
    if (inner instanceof Map) return { map: [...inner] };
    if (inner instanceof Set) return { set: [...inner] };
    if (inner instanceof Error) return { error: inner.message };
    if ('sessionId' in inner && 'id' in inner) return { actor: inner.id };
    return inner;
  });
}
