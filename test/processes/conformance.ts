/** The scenario files of the project, read. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseScenario, type Scenario } from '../../simulator/jobs/scenario/scenario.ts';
import { ROOT } from '../project-files.ts';

const FOLDER = join(ROOT, 'test', 'conformance');

/** By its name without `.yaml`. */
export function readScenario(file: string): Scenario {
  return parseScenario(readFileSync(join(FOLDER, `${file}.yaml`), 'utf8'), `${file}.yaml`);
}

/** All of them, without `.yaml`. */
export function listScenarios(): readonly string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => name.slice(0, -'.yaml'.length));
}
