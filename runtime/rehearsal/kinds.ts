/**
 * The kinds of one side of an upgrade, made from what a module of the user's exports.
 *
 * A kind is made exactly as `runtime.register` makes it, so what is refused there is refused here.
 * Its migrations are the user's own; what they were given and what they returned is noted on the
 * way, and nothing of it is changed.
 */

import type { AnyStateMachine } from 'xstate';
import { Kind, type KindEntry, type KindOptions, type MigratedState, partsOf } from '../actor.ts';
import { RuntimeError } from '../base/errors.ts';
import { type RuntimeLimits, resolveLimits } from '../base/limits.ts';

/** Exports that a module must have to be rehearsed: the machines of one release, by kind. */
export interface UpgradeModule {
  readonly kinds: Readonly<Record<string, AnyStateMachine | UpgradeKind>>;
  /** The limits that the runtime is started with, where they differ from their defaults. */
  readonly limits?: Partial<RuntimeLimits>;
}

/** A machine with the options it is registered with. Performers may be left out: none is called. */
export type UpgradeKind = KindEntry;

/** One migration of one record. */
export interface MigrationStep {
  /** The version it leads to. */
  readonly version: number;
  readonly before: MigratedState;
  /** Undefined when it threw. Not checked: it is the value that the migration returned. */
  readonly after: MigratedState | undefined;
}

export interface RehearsedKind {
  readonly kind: Kind;
  /** Steps of the migrations since it was last emptied. */
  readonly steps: MigrationStep[];
}

export type RehearsedKinds = ReadonlyMap<string, RehearsedKind>;

/** @throws {RuntimeError} OPTION_INVALID naming the first thing that makes no sense. */
export function rehearsedKinds(exported: unknown): RehearsedKinds {
  const { kinds, limits } = (exported ?? {}) as Partial<UpgradeModule>;
  if (typeof kinds !== 'object' || kinds === null || Object.keys(kinds).length === 0)
    throw invalid('It must export "kinds", an object with a machine, or { machine, … }, by kind');
  const resolved = resolveLimits(limits);
  const made = new Map<string, RehearsedKind>();
  for (const [name, entry] of Object.entries(kinds)) {
    const { machine, options } = partsOf(name, entry);
    const steps: MigrationStep[] = [];
    const migrate = recorded(options.migrate ?? {}, steps);
    made.set(name, { kind: new Kind(name, machine, { ...options, migrate }, resolved), steps });
  }
  return made;
}

function recorded(
  migrate: NonNullable<KindOptions['migrate']>,
  steps: MigrationStep[],
): NonNullable<KindOptions['migrate']> {
  const wrapped: Record<number, (stored: MigratedState) => MigratedState> = {};
  for (const [step, run] of Object.entries(migrate)) {
    const version = Number(step);
    // What is no function the kind refuses in its own words.
    wrapped[version] =
      typeof run !== 'function'
        ? run
        : (stored) => {
            // A migration may change what it is given.
            const before = JSON.parse(JSON.stringify(stored)) as MigratedState;
            let after: MigratedState | undefined;
            try {
              after = run(stored);
              return after;
            } finally {
              steps.push({ version, before, after });
            }
          };
  }
  return wrapped;
}

function invalid(what: string): RuntimeError {
  return new RuntimeError('OPTION_INVALID', `${what}.`);
}
