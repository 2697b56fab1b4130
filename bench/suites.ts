/** All suites, by name. */

import { engine } from './engine.ts';
import type { Suite } from './suite.ts';

export const SUITES: readonly Suite[] = [engine];
