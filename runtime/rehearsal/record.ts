/**
 * Rehearsal of one stored record: its outcome under the new machine.
 *
 * The record is decoded as a node would decode it, once with the new kind and, where the
 * old code is at hand, once with the old one. Nothing is written, no event is taken, no
 * performer and no child is run. Deadlines are compared by id, which is what XState arms,
 * cancels and stores them under.
 */

import type { Actor } from '../actor.ts';
import { decodeRecord } from '../actor.ts';
import { messageOf } from '../base/errors.ts';
import type { StoredRow } from '../ports/store.ts';
import { missingStates, tablesOf } from '../statechart.ts';
import type { Finding } from './findings.ts';
import type { RehearsedKind } from './kinds.ts';
import { migrationFindings, storedVersion } from './migration.ts';
import { timerFindings } from './timers.ts';

type Decoded = { readonly actor: Actor } | { readonly error: string };

export interface RecordVerdict {
  readonly isRestored: boolean;
  readonly findings: readonly Finding[];
}

/** Stored parts of an actor. */
export interface Rehearsed {
  readonly text: string;
  /** The rows beside it. */
  readonly rows: readonly StoredRow[];
}

/** `before` is undefined where the old code is not at hand or does not know the kind. */
export function rehearseRecord(
  address: string,
  stored: Rehearsed,
  next: RehearsedKind,
  before: RehearsedKind | undefined,
): RecordVerdict {
  const { text } = stored;
  const old = before === undefined ? undefined : decode(before, address, stored);
  const decoded = decode(next, address, stored);
  const isBroken = old !== undefined && 'error' in old;
  if ('error' in decoded) {
    const finding = isBroken
      ? { name: 'broken-before' as const, detail: brokenDetail(decoded.error, old.error) }
      : failure(text, next, decoded.error);
    return { isRestored: false, findings: [finding] };
  }
  const oldActor = old !== undefined && 'actor' in old ? old.actor : undefined;
  const findings = [
    ...migrationFindings(next, text),
    ...timerFindings(decoded.actor, oldActor, versionOfFix(next, text)),
  ];
  if (isBroken) findings.unshift({ name: 'restores-only-with-new', detail: old.error });
  return { isRestored: true, findings };
}

function decode(
  { kind, steps }: RehearsedKind,
  address: string,
  { text, rows }: Rehearsed,
): Decoded {
  steps.length = 0;
  try {
    return { actor: decodeRecord(kind, address, text, () => tablesOf(rows)) };
  } catch (thrown) {
    // Without its address the message is the same for all records with the same trouble.
    return { error: messageOf(thrown).replaceAll(address, 'the actor') };
  }
}

function brokenDetail(error: string, oldError: string): string {
  return error === oldError ? error : `${error} With OLD: ${oldError}`;
}

/** Finding for a sound record that is refused: a state that is gone has a name of its own. */
function failure(text: string, next: RehearsedKind, error: string): Finding {
  const { kind, steps } = next;
  const last = steps.at(-1);
  // A migration that threw has left no snapshot to look at.
  const snapshot = last === undefined ? storedSnapshot(text) : last.after?.snapshot;
  const missing = missingStates(kind.source, snapshot);
  if (missing.length === 0) return { name: 'would-not-restore', detail: error };
  const states = missing.map((state) => `"${state}"`).join(', ');
  return {
    name: 'state-gone',
    detail: `The machine has no state ${states}`,
    fix: `migrate[${versionOfFix(next, text)}] says which state takes its place`,
  };
}

/** The version whose migration can still change this record. */
function versionOfFix({ kind }: RehearsedKind, text: string): number {
  const version = storedVersion(text);
  return version !== undefined && version < kind.version ? kind.version : kind.version + 1;
}

function storedSnapshot(text: string): unknown {
  try {
    return (JSON.parse(text) as { snapshot?: unknown } | null)?.snapshot;
  } catch {
    return undefined;
  }
}
