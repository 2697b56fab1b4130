/**
 * Checks which XState is installed, for whatever starts a runtime. The answer is found when this is loaded:
 * a simulated run may not look at files.
 */

import { createRequire } from 'node:module';
import type { Logger } from './runtime/base/limits.ts';
import { checkXStateVersion, NEWEST_XSTATE, OLDEST_XSTATE } from './runtime/statechart.ts';

const found = installedVersion();

/** @throws {RuntimeError} XSTATE_UNSUPPORTED */
export function checkInstalledXState(logger: Logger): void {
  if (found !== undefined) {
    checkXStateVersion(found);
    return;
  }
  logger.warn(
    { oldest: OLDEST_XSTATE, newest: NEWEST_XSTATE },
    'the version of xstate cannot be read, as in a bundle; make sure that it is in the supported range',
  );
}

function installedVersion(): string | undefined {
  try {
    const { version } = createRequire(import.meta.url)('xstate/package.json');
    return String(version);
  } catch {
    return undefined;
  }
}
