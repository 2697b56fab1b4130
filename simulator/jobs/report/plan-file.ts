/**
 * A plan as a file: written so that people can read it, and read so that it can be trusted.
 *
 * Guarantees: of a plan that is returned the version, the shape, the sizes, the configuration and the
 * names were checked; otherwise one error says what is wrong where, with line and column. What the
 * parameters of a fault mean its kind alone knows, and says when it is played.
 */

import { resolveConfiguration } from '../../../programs/jobs/configuration.ts';
import { Issues, positionsIn } from '../../../reading/issues.ts';
import { findJsonError } from '../../../reading/json-error.ts';
import { type SchemaIssue, schemaIssues, whatOf } from '../../../reading/schema.ts';
import { readSource } from '../../../reading/source.ts';
import { placesIn } from '../../../reading/value.ts';
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
/** Issues that one error tells of. */
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
  const fail = (...issues: ReadonlyArray<PlanIssue>): never => {
    const first = issues.slice(0, TOLD_MAX);
    const placeOf = placesOf(text, first);
    const told = first.map(({ path, what, offset }) => {
      const named = path === undefined ? what : `${path}: ${what}`;
      return `${fileName}${placeOf(path, offset)}: ${named}`;
    });
    const more = issues.length - told.length;
    if (more > 0) told.push(`${fileName}: and ${more} more.`);
    throw new RuntimeError('PLAN_INVALID', told.join('\n'));
  };
  if (text.length > PLAN_LENGTH_MAX)
    fail({
      what: `a plan has at most ${PLAN_LENGTH_MAX.toLocaleString('en-GB')} characters.`,
    });
  const written = parsed(text, fail);
  const value = isForced && isMap(written) ? { ...written, version: PLAN_VERSION } : written;
  const { version, release: writer } = isMap(value) ? value : {};
  const force = 'With --force it is played all the same, and may come to another run';
  if (version !== undefined && version !== PLAN_VERSION)
    fail({
      what: `a plan of another version, ${excerpt(version)}; this release plays version ${PLAN_VERSION}. ${force}.`,
    });
  if (!isForced && writer !== undefined && release !== undefined && writer !== release)
    fail({ what: `a plan of another release, ${excerpt(writer)}; this is ${release}. ${force}.` });
  const checked = planSchema.safeParse(value);
  if (!checked.success) return fail(...schemaIssues(planSchema, checked.error).map(planIssue));
  // As it was in the file, with its keys in their order: the same run.
  const plan = value as Plan;
  const issues = issuesIn(plan);
  return issues.length > 0 ? fail(...issues) : plan;
}

interface PlanIssue {
  /** Left out where the whole file is meant. */
  readonly path?: string;
  readonly what: string;
  /** Where in the text, when no value is there to tell it. */
  readonly offset?: number;
}

/** Line and column of issues, as `:12:5`; empty where the whole file is meant, or the text is too long to look. */
function placesOf(
  text: string,
  issues: readonly PlanIssue[],
): (path: string | undefined, offset: number | undefined) => string {
  const position = positionsIn(text);
  const offsets = issues.some(({ path }) => path !== undefined) ? offsetsIn(text) : new Map();
  return (path, offset) => {
    let name = path?.replaceAll(/\[(\d+)\]/g, '.$1');
    // What is missing is told where it should stand.
    while (name !== undefined && name !== '' && !offsets.has(name))
      name = name.slice(0, Math.max(0, name.lastIndexOf('.')));
    const at = offset ?? (name === '' && offsets.size > 0 ? 0 : offsets.get(name ?? ''));
    if (at === undefined) return '';
    const { line, column } = position(at);
    return `:${line}:${column}`;
  };
}

function offsetsIn(text: string): ReadonlyMap<string, number> {
  try {
    const source = readSource(text, new Issues(text, '', 'PLAN_INVALID'));
    return new Map(source === undefined ? [] : placesIn(source));
  } catch {
    return new Map();
  }
}

function parsed(text: string, fail: (issue: PlanIssue) => never): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    return fail({ what: `is no JSON: ${messageOf(thrown)}`, offset: findJsonError(text) });
  }
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function planIssue(issue: SchemaIssue): PlanIssue {
  return { path: pathOf(issue.path), what: whatOf(issue) };
}

function pathOf(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
  const text = parts.join('').replace(/^\./, '');
  return text === '' ? 'the plan' : text.slice(0, 200);
}

function issuesIn(plan: Plan): readonly PlanIssue[] {
  const issues: PlanIssue[] = [];
  const nodes = nodesOf(plan.topology).length;
  if (nodes > SCENARIO_LIMITS.nodesMax)
    issues.push({
      path: 'topology',
      what: `there are ${nodes} nodes, and at most ${SCENARIO_LIMITS.nodesMax}.`,
    });
  const ids = plan.nemeses.map(({ id }) => id);
  if (new Set(ids).size < ids.length)
    issues.push({ path: 'nemeses', what: 'two have the same id.' });
  for (const [index, { kind }] of plan.nemeses.entries())
    collect(issues, `nemeses[${index}].kind`, () => kindOfNemesis(JOBS_MENU, kind));
  collect(issues, 'config', () => resolveConfiguration(plan.config));
  collect(issues, 'bounds', () => checkBounds(plan.bounds ?? {}));
  // Names mean nothing where there are too many nodes to look at.
  if (issues.length === 0)
    for (const { path, name } of strangersIn(plan))
      issues.push({ path, what: `${excerpt(name)} is not in the topology.` });
  return issues;
}

function collect(issues: PlanIssue[], path: string, check: () => unknown): void {
  try {
    check();
  } catch (thrown) {
    issues.push({ path, what: messageOf(thrown) });
  }
}
