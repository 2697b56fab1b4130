/**
 * Descriptions of what migrations do to stored state, as sentences that can be counted.
 *
 * A record of an older version is described step by step: the state, the keys of the context (the
 * topmost only), any other change of the snapshot, and the deadlines. This file describes and does
 * not judge: the decoder says whether the result restores.
 */

import type { MigratedState } from '../actor.ts';
import { stateText } from '../actor.ts';
import type { Finding } from './findings.ts';
import type { MigrationStep, RehearsedKind } from './kinds.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Findings about a record that the kind has just decoded; empty where it was of this version already. */
export function migrationFindings({ kind, steps }: RehearsedKind, text: string): Finding[] {
  const version = storedVersion(text);
  if (version === undefined || version === kind.version) return [];
  const changes = steps.flatMap((step) => changesOf(step));
  if (steps.length === 0) changes.push('taken as it is, there is no migration');
  else if (changes.length === 0) changes.push('nothing changed');
  return changes.map((change) => ({
    name: 'migrated',
    detail: `version ${version} → ${kind.version}: ${change}`,
  }));
}

/** The version of the machine that a record is of, as far as it can be read. */
export function storedVersion(text: string): number | undefined {
  try {
    const version = (JSON.parse(text) as { version?: unknown } | null)?.version;
    return typeof version === 'number' ? version : undefined;
  } catch {
    return undefined;
  }
}

function changesOf({ before, after }: MigrationStep): string[] {
  const old = fieldsOf(before.snapshot);
  const next = fieldsOf(after?.snapshot);
  const changes: string[] = [];
  if (!isSame(old.value, next.value))
    changes.push(`state "${stateText(old.value)}" → "${stateText(next.value)}"`);
  changes.push(...keyChanges('context.', fieldsOf(old.context), fieldsOf(next.context)));
  // What is empty is left out of a record, and a migration need not give it back.
  const { value: _, context: __, ...oldRest } = { ...USUAL, ...old };
  const { value: ___, context: ____, ...nextRest } = { ...USUAL, ...next };
  changes.push(...keyChanges('', oldRest, nextRest));
  return [...changes, ...timerChanges(before, after)];
}

const USUAL: Fields = { status: 'active', children: {}, historyValue: {} };

function keyChanges(prefix: string, old: Fields, next: Fields): string[] {
  const changes: string[] = [];
  for (const key of Object.keys(old))
    if (!Object.hasOwn(next, key)) changes.push(`${prefix}${key} removed`);
  for (const key of Object.keys(next)) {
    if (!Object.hasOwn(old, key)) changes.push(`${prefix}${key} added`);
    else if (!isSame(old[key], next[key])) changes.push(`${prefix}${key} changed`);
  }
  return changes;
}

function timerChanges(before: MigratedState, after: MigratedState | undefined): string[] {
  const old = before.timers;
  const next = after?.timers ?? [];
  const has = (rows: MigratedState['timers'], id: string) => rows.some((row) => row.id === id);
  const removed = old.filter(({ id }) => !has(next, id));
  const added = next.filter(({ id }) => !has(old, id));
  const moved = next.filter(
    ({ id, dueAt }) => has(old, id) && !old.some((row) => row.id === id && row.dueAt === dueAt),
  );
  return [
    ...removed.map(({ id }) => `timer "${id}" removed`),
    ...added.map(({ id }) => `timer "${id}" added`),
    ...moved.map(({ id }) => `timer "${id}" moved`),
  ];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
