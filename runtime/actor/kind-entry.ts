/**
 * Entries of a list of kinds: a machine, or a machine with the options it is registered with.
 *
 * `createRuntime` and a rehearsed upgrade take the same, so one module can export them for both.
 */

import type { AnyStateMachine } from 'xstate';
import { excerpt, RuntimeError } from '../base/errors.ts';
import type { KindOptions } from './kind.ts';

/** A machine with the options it is registered with. */
export interface KindEntry<TMachine extends AnyStateMachine = AnyStateMachine> extends KindOptions {
  readonly machine: TMachine;
}

export type KindEntries = Readonly<Record<string, AnyStateMachine | KindEntry>>;

/** The machines of such a list, by kind. */
export type MachinesOf<TKinds extends KindEntries> = {
  [name in keyof TKinds]: TKinds[name] extends AnyStateMachine
    ? TKinds[name]
    : TKinds[name] extends { readonly machine: infer TMachine extends AnyStateMachine }
      ? TMachine
      : never;
};

/** @throws {RuntimeError} OPTION_INVALID */
export function partsOf(
  name: string,
  entry: unknown,
): { readonly machine: AnyStateMachine; readonly options: KindOptions } {
  if (typeof entry !== 'object' || entry === null) {
    const what = `Kind "${name}" is a machine or { machine, … }, got ${excerpt(entry)}.`;
    throw new RuntimeError('OPTION_INVALID', what);
  }
  // Whether it is a machine the kind checks, which says the same to everybody.
  if (!('machine' in entry) || typeof (entry as Partial<AnyStateMachine>).provide === 'function')
    return { machine: entry as AnyStateMachine, options: {} };
  const { machine, ...options } = entry as KindEntry;
  return { machine, options };
}
