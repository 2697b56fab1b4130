/**
 * XState's `spawn`, as an assignment is given it: it follows XState's line by line (private). The child is started when
 * the step is over.
 */

import type { AnyActorLogic, AnyActorRef, AnyMachineSnapshot, EventObject } from 'xstate';
import * as XState from 'xstate';
import type { Scope } from './xstate-actions.ts';
import { STOPPED } from './xstate-children.ts';

// XState's names are taken at run time: where another version lacks one, the check of its version can still speak.
const { createActor } = XState;

/** Children that an assignment has spawned, by id. */
export interface Spawned {
  children?: Record<string, AnyActorRef>;
}

interface SpawnOptions {
  readonly id?: string;
  readonly systemId?: string;
  readonly syncSnapshot?: boolean;
  readonly input?: unknown;
}

/** `now`: where the snapshot of this moment is. */
export function spawner(
  scope: Scope,
  now: { readonly snapshot: AnyMachineSnapshot },
  event: EventObject,
  spawned: Spawned,
): (src: string | AnyActorLogic, options?: SpawnOptions) => AnyActorRef {
  return (src, options = {}) => {
    const { self } = scope;
    const { context, machine } = now.snapshot;
    const logic = typeof src === 'string' ? machine.implementations.actors[src] : src;
    if (logic === undefined) {
      throw new Error(`Actor logic '${src}' not implemented in machine '${machine.id}'`);
    }
    const isMapped = typeof src === 'string' && typeof options.input === 'function';
    const input = isMapped
      ? (options.input as (args: object) => unknown)({ context, event, self })
      : options.input;
    const child = createActor(
      logic as AnyActorLogic,
      { ...options, parent: self, input, src } as never,
    );
    const ref = child as unknown as AnyActorRef & { _processingStatus: number };
    spawned.children = { ...spawned.children, [ref.id]: ref };
    scope.defer(() => {
      if (ref._processingStatus !== STOPPED) ref.start();
    });
    return ref;
  };
}
