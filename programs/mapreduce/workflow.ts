/**
 * Workflow: what a file says is to be run, checked as a whole before anything starts.
 *
 * Every error names the path and the place in the file. Unknown keys are errors: a misspelt limit would be none.
 */

import { Field } from './workflow/field.ts';
import { type MapSection, readMap } from './workflow/map-keys.ts';
import { objectSource, readSource, type Source } from './workflow/source.ts';
import { readSteps, type Step } from './workflow/steps.ts';

export { type Edit, edited } from './workflow/edit.ts';
export type { Learnt, Limits } from './workflow/limits.ts';
export { limitsOf, warningsOf } from './workflow/limits.ts';
export type { MapSection } from './workflow/map-keys.ts';
export { WorkflowError } from './workflow/source.ts';
export type { Step } from './workflow/steps.ts';

export interface Workflow {
  readonly name: string;
  readonly setup: readonly Step[] | null;
  readonly map: MapSection;
  readonly reduce: readonly Step[] | null;
  /** The program and first arguments of `claude` steps. */
  readonly claude: readonly string[];
}

const KEYS = ['name', 'mode', 'setup', 'map', 'reduce', 'commands'];

/** @throws {WorkflowError} */
export function parseWorkflow(text: string, file: string): Workflow {
  const name = file.replace(/^.*\//, '').replace(/\.(ya?ml|json)$/, '');
  return readWorkflow(readSource(text, file), name);
}

/** The same of an object that somebody has read already. @throws {WorkflowError} */
export function checkWorkflow(value: unknown): Workflow {
  return readWorkflow(objectSource(value), 'workflow');
}

function readWorkflow(source: Source, fallbackName: string): Workflow {
  const root = new Field(source, source.value).record(KEYS);
  const mode = root.member('mode');
  if (mode.value !== 'mapreduce') mode.wrong('mode must be mapreduce');
  const name = root.member('name');
  const commands = root.member('commands');
  if (!commands.isMissing) commands.record(['claude']);
  const claude = commands.member('claude');
  const steps = (key: 'setup' | 'reduce') =>
    root.member(key).isMissing ? null : readSteps(root.member(key), key);
  if (root.member('map').isMissing) root.wrong('map is missing');
  return {
    name: name.isMissing ? fallbackName : name.text(),
    setup: steps('setup'),
    map: readMap(root.member('map')),
    reduce: steps('reduce'),
    claude: claude.isMissing ? ['claude'] : claude.texts(),
  };
}
