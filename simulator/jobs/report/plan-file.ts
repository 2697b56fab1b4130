/**
 * A plan as a file: written so that people can read it, and read so that it can be trusted.
 *
 * Guarantees: of a plan that is returned the version, the shape, the sizes, the configuration and the
 * names were checked; otherwise one error says what is wrong where. What the parameters of a fault
 * mean its kind alone knows, and says when it is played.
 */

import { resolveConfiguration } from '../../../programs/jobs/configuration.ts';
import { type SchemaIssue, schemaIssues, whatOf } from '../../../reading/schema.ts';
import { excerpt, messageOf, RuntimeError } from '../../../runtime/base/errors.ts';
import { kindOfNemesis } from '../../faults.ts';
import { checkBounds } from '../../simulation.ts';
import { JOBS_MENU } from '../faults/menu.ts';
import { nodesOf } from '../names.ts';
import { PLAN_VERSION, type Plan } from '../plan.ts';
import { SCENARIO_LIMITS } from '../scenario/limits.ts';
import { planSchema } from './plan-schema.ts';
import { strangersIn } from './strangers.ts';

/** Characters of a plan file. */
export const PLAN_LENGTH_MAX = 16 * 1_048_576;
/** Mistakes that one error tells of. */
const TOLD_MAX = 10;

/** `release`: of Escapement, which plays it again as it was. */
export function planText({ version, ...plan }: Plan, release?: string): string {
  const told = { version, ...(release !== undefined && { release }), ...plan };
  return `${JSON.stringify(told, null, 2)}\n`;
}

export interface ReadOptions {
  /** This one; plans that another one has written are refused. */
  readonly release?: string;
  /** Its author: it is read as far as it can be. */
  readonly isForced?: boolean;
}

/** @throws {RuntimeError} PLAN_INVALID */
export function readPlan(
  text: string,
  fileName: string,
  { release, isForced = false }: ReadOptions = {},
): Plan {
  const fail = (...whats: readonly string[]): never => {
    const told = whats.slice(0, TOLD_MAX).map((what) => `${fileName}: ${what}`);
    const more = whats.length - told.length;
    if (more > 0) told.push(`${fileName}: and ${more} more.`);
    throw new RuntimeError('PLAN_INVALID', told.join('\n'));
  };
  if (text.length > PLAN_LENGTH_MAX)
    fail(`a plan has at most ${PLAN_LENGTH_MAX.toLocaleString('en-GB')} characters.`);
  const written = parsed(text, fail);
  const value = isForced && isMap(written) ? { ...written, version: PLAN_VERSION } : written;
  const { version, release: writer } = isMap(value) ? value : {};
  const force = 'With --force it is played all the same, and may come to another run';
  if (version !== undefined && version !== PLAN_VERSION)
    fail(
      `a plan of another version, ${excerpt(version)}; this release plays version ${PLAN_VERSION}. ${force}.`,
    );
  if (!isForced && writer !== undefined && release !== undefined && writer !== release)
    fail(`a plan of another release, ${excerpt(writer)}; this is ${release}. ${force}.`);
  const checked = planSchema.safeParse(value);
  if (!checked.success) return fail(...schemaIssues(planSchema, checked.error).map(sentenceOf));
  // As it was in the file, with its keys in their order: the same run.
  const plan = value as Plan;
  const mistakes = mistakesIn(plan);
  return mistakes.length > 0 ? fail(...mistakes) : plan;
}

function parsed(text: string, fail: (what: string) => never): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    return fail(`is no JSON: ${messageOf(thrown)}`);
  }
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sentenceOf(issue: SchemaIssue): string {
  return `${pathOf(issue.path)}: ${whatOf(issue)}`;
}

function pathOf(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
  const text = parts.join('').replace(/^\./, '');
  return text === '' ? 'the plan' : text.slice(0, 200);
}

function mistakesIn(plan: Plan): readonly string[] {
  const mistakes: string[] = [];
  const nodes = nodesOf(plan.topology).length;
  if (nodes > SCENARIO_LIMITS.nodesMax)
    mistakes.push(`topology: there are ${nodes} nodes, and at most ${SCENARIO_LIMITS.nodesMax}.`);
  const ids = plan.nemeses.map(({ id }) => id);
  if (new Set(ids).size < ids.length) mistakes.push('nemeses: two have the same id.');
  for (const [index, { kind }] of plan.nemeses.entries())
    collect(mistakes, `nemeses[${index}].kind`, () => kindOfNemesis(JOBS_MENU, kind));
  collect(mistakes, 'config', () => resolveConfiguration(plan.config));
  collect(mistakes, 'bounds', () => checkBounds(plan.bounds ?? {}));
  // Names mean nothing where there are too many nodes to look at.
  if (mistakes.length === 0)
    for (const { path, name } of strangersIn(plan))
      mistakes.push(`${path}: ${excerpt(name)} is not in the topology.`);
  return mistakes;
}

function collect(mistakes: string[], path: string, check: () => unknown): void {
  try {
    check();
  } catch (thrown) {
    mistakes.push(`${path}: ${messageOf(thrown)}`);
  }
}
