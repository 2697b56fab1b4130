/**
 * Kinds in a module of the user's: what `createRuntime` takes as `kinds`.
 *
 * The export `kinds` has all of them, with `limits` beside it where there are any; else the default export
 * has, or is the one machine, called as its `id` says; else every export that is a machine or
 * `{ machine, … }` is one. So one file serves `start node`, `check-upgrade` and a program's own code.
 */

import type { AnyStateMachine } from 'xstate';
import type { KindEntry } from '../../runtime/actor.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { UpgradeModule } from '../../runtime/rehearsal.ts';
import type { Exported } from './module-file.ts';

export interface FoundKinds extends UpgradeModule {
  /** Exports that are no kinds and were left alone. */
  readonly others: readonly string[];
}

const HOW =
  'It must export "kinds", an object with a machine, or { machine, … }, by kind; or machines, each under its name; or one machine as default';

/** @throws {RuntimeError} OPTION_INVALID when there are none. */
export function kindsIn(exported: Exported): FoundKinds {
  const { default: main, ...named } = exported;
  // CommonJS modules are their own default export.
  const isCommon = isObject(main) && 'module.exports' in named;
  const { kinds, limits } = (
    isObject(main) && isObject(main.kinds) ? main : named
  ) as Partial<UpgradeModule>;
  if (kinds !== undefined) return found({ kinds, ...(limits !== undefined && { limits }) });
  if (isMachine(main))
    return found({ kinds: { [(main as AnyStateMachine).id]: main as AnyStateMachine } });
  if (isObject(main) && !isCommon) return found({ kinds: main as UpgradeModule['kinds'] });
  const all = Object.entries(isCommon ? main : named);
  const own = all.filter(([, value]) => isMachine(value) || isEntry(value));
  const others = all.filter(([, value]) => !isMachine(value) && !isEntry(value));
  return found(
    { kinds: Object.fromEntries(own) as UpgradeModule['kinds'] },
    others.map(([name]) => name),
  );
}

function found(module: UpgradeModule, others: readonly string[] = []): FoundKinds {
  if (isObject(module.kinds) && Object.keys(module.kinds).length > 0) return { ...module, others };
  const there = others.length === 0 ? '' : `; it exports ${others.slice(0, SHOWN_MAX).join(', ')}`;
  throw new RuntimeError('OPTION_INVALID', `${HOW}${there}.`);
}

/** Names of exports that a message tells. */
const SHOWN_MAX = 5;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const isMachine = (value: unknown): boolean =>
  isObject(value) && typeof value.provide === 'function' && typeof value.transition === 'function';

const isEntry = (value: unknown): value is KindEntry => isObject(value) && isMachine(value.machine);
