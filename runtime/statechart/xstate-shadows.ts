/**
 * Children that run under an id which another child has taken since, as when two regions invoke
 * under one id. XState lets both run, and its persisted snapshot has the later one only; here the
 * earlier ones are stored beside it, with their numbers.
 */

import type { AnyActorLogic, AnyMachineSnapshot } from 'xstate';
import * as XState from 'xstate';
import { type ChildActor, type ChildTable, type RootRef, RUNNING } from './xstate-children.ts';

// XState's names are taken at run time: where another version lacks one, the check of its version can still speak.
const { createActor } = XState;

export interface StoredShadow {
  readonly session: number;
  /** Session number of its parent; 0 is the root. */
  readonly parent: number;
  readonly id: string;
  readonly src: string;
  readonly systemId?: string | undefined;
  readonly syncSnapshot?: boolean | undefined;
  readonly snapshot: object;
}

export function shadowsOf({ bySession }: ChildTable): StoredShadow[] {
  const shadows: StoredShadow[] = [];
  for (const [session, child] of bySession ?? []) {
    if (child.isShadowed !== true || child._processingStatus !== RUNNING) continue;
    const {
      id,
      src,
      _parent,
      systemId,
      _syncSnapshot: syncSnapshot,
    } = child as ChildActor & { readonly _syncSnapshot?: boolean };
    const parent = Number(_parent.sessionId);
    const snapshot = child.getPersistedSnapshot();
    shadows.push({ session, parent, id, src: src as string, systemId, syncSnapshot, snapshot });
  }
  return shadows;
}

/** Builds and starts them; the children that the snapshots lead to are there. @throws when a source is not known */
export function restoreShadows(
  table: ChildTable,
  root: RootRef,
  shadows: readonly StoredShadow[],
): void {
  for (const { session, parent: parentSession, id, src, ...options } of shadows) {
    const parent = parentSession === 0 ? root : table.bySession?.get(parentSession);
    const { machine } = (parent?.getSnapshot() ?? {}) as Partial<AnyMachineSnapshot>;
    const logic = machine?.implementations.actors[src];
    if (logic === undefined)
      throw new Error(`child "${id}" has a source that the machine does not know`);
    table.shadowSession = session;
    createActor(logic as AnyActorLogic, { ...options, id, src, parent } as never).start();
  }
}
