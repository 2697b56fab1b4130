/**
 * Guards of a microstep. A plain one, by name or inline, is called as XState calls it; one that XState has made
 * (`and`, `stateIn`), and one that is missing, is XState's own to evaluate, by its public `and` of one.
 */

import type { AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate';
import * as XState from 'xstate';

// XState's names are taken at run time: where another version lacks one, the check of its version can still speak.
const { and } = XState;

export interface GuardArgs {
  readonly context: unknown;
  readonly event: EventObject;
}

type Check = (snapshot: unknown, args: object, params: object) => boolean;
type Plain = (args: GuardArgs, params: unknown) => boolean;

const ONE_GUARD = and?.([]);

/** `now`: where the snapshot of this moment is, for guards that look at it. */
export function holds(
  guard: unknown,
  machine: AnyStateMachine,
  args: GuardArgs,
  now: { readonly snapshot: AnyMachineSnapshot },
): boolean {
  if (guard === undefined) return true;
  const { type, params } = typeof guard === 'object' ? (guard as Named) : NOTHING;
  const { guards } = machine.implementations as unknown as { guards: Record<string, unknown> };
  const found = typeof guard === 'function' ? guard : guards[type ?? (guard as string)];
  if (typeof found === 'function' && !('check' in found))
    return (found as Plain)(args, typeof params === 'function' ? params(args) : params);
  const { check } = ONE_GUARD as unknown as { check: Check };
  return check(now.snapshot, args, { guards: [guard] });
}

interface Named {
  readonly type?: string;
  readonly params?: unknown;
}

const NOTHING: Named = {};
