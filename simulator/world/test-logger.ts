/**
 * The log of a test that brings none: silent, but for a machine that a restart would break. No test of
 * it fails before the first crash, so it says so where a person looks.
 */

import { emitWarning } from 'node:process';
import { CONTEXT_LOSSY } from '../../runtime/actor.ts';
import { type Logger, SILENT_LOGGER } from '../../runtime/base/limits.ts';

export const TEST_LOGGER: Logger = {
  ...SILENT_LOGGER,
  warn(fields, text) {
    if ((fields as { code?: unknown }).code === CONTEXT_LOSSY)
      emitWarning(text, { code: CONTEXT_LOSSY });
  },
};
