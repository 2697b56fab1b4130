/**
 * Versions of XState that the seam is made for: all tests of it pass on the oldest and on the
 * newest. It relies on members that XState promises to nobody, so any other version is refused
 * before a runtime starts. The range is the one of `peerDependencies` in package.json.
 */

import type { AnyStateMachine } from 'xstate';
import { excerpt, RuntimeError } from '../base/errors.ts';

export const OLDEST_XSTATE = '5.32.6';
export const NEWEST_XSTATE = '5.33.3';

/** @throws {RuntimeError} XSTATE_UNSUPPORTED */
export function checkXStateVersion(installed: string): void {
  const isInRange =
    /^\d+\.\d+\.\d+$/.test(installed) &&
    !isBelow(installed, OLDEST_XSTATE) &&
    !isBelow(NEWEST_XSTATE, installed);
  if (isInRange) return;
  throw new RuntimeError(
    'XSTATE_UNSUPPORTED',
    `xstate ${excerpt(installed)} is installed, and Escapement runs on ${OLDEST_XSTATE} to ${NEWEST_XSTATE}. ` +
      `Run "npm install xstate@${NEWEST_XSTATE}", and "npm ls xstate" to see who asks for another version.`,
  );
}

/** True of a machine made by a copy of XState that is older than 5.31, or by XState 6. */
export function isOfAnotherXState(machine: AnyStateMachine): boolean {
  const { __xstatenode: isNode, options } = machine as {
    readonly __xstatenode?: unknown;
    readonly options?: unknown;
  };
  const { maxIterations } = (options ?? {}) as { readonly maxIterations?: number };
  return isNode !== true || maxIterations === undefined;
}

function isBelow(version: string, other: string): boolean {
  const [own, others] = [version, other].map((each) => each.split('.').map(Number));
  const differs = own?.findIndex((number, index) => number !== others?.[index]) ?? -1;
  return differs !== -1 && Number(own?.[differs]) < Number(others?.[differs]);
}
