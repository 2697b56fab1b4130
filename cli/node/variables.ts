/** Variables of the environment that say settings: `ESCAPEMENT_LOG_LEVEL` is `log.level`. */

import { JOBS_OPTIONS } from '../../programs/jobs/configuration/options.ts';
import { SETTINGS } from './settings.ts';

const PREFIX = 'ESCAPEMENT_';
/** Said by the environment only, or read by other commands. */
const OTHER_VARIABLES = ['CONFIG', 'SECRET', 'URL', 'TOKEN', 'TOKEN_FILE', 'INSIDE'];

/** `log.level` → `ESCAPEMENT_LOG_LEVEL`. */
export function variableOf(path: string): string {
  return (
    PREFIX +
    path
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .replace(/\./g, '_')
      .toUpperCase()
  );
}

const TEXT_PATHS = Object.keys(SETTINGS).filter((path) => SETTINGS[path]?.text !== undefined);
const JOBS_PATHS = Object.keys(JOBS_OPTIONS).map((name) => `jobs.${name}`);

/** The paths that a variable of the environment can say, by its name. */
export const VARIABLES: ReadonlyMap<string, string> = new Map(
  [...TEXT_PATHS, ...JOBS_PATHS].map((path) => [variableOf(path), path]),
);

export const KNOWN_VARIABLES: readonly string[] = [
  ...VARIABLES.keys(),
  ...OTHER_VARIABLES.map((name) => PREFIX + name),
];

/** Variables that look like ours and are nobody's. */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env).filter(
    (name) => name.startsWith(PREFIX) && !KNOWN_VARIABLES.includes(name),
  );
}
