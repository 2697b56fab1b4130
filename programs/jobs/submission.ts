/**
 * A submission: put together from its pages, checked as a whole, and given a digest.
 *
 * Guarantees: what comes out is complete and keeps every limit; a breach is named by its field.
 * At most one submission per sender and job is unfinished, and not for long.
 */

import { createHash } from 'node:crypto';
import { ID_PATTERN } from '../../machines/jobs/addresses.ts';
import {
  type GateTerms,
  gateTerms,
  type JobTerms,
  jobTerms,
  WORKFLOWS_MAX,
  type WorkflowSpec,
  workflowSpec,
} from '../../machines/jobs/messages/client.ts';
import type { Cancel, Clock } from '../../runtime/clock.ts';

export interface Submission {
  readonly jobId: string;
  readonly terms: JobTerms;
  readonly gate: GateTerms | undefined;
  readonly workflows: readonly WorkflowSpec[];
  readonly digest: string;
}

/** What is wrong with a submission, and where. */
export interface Breach {
  readonly field: string;
  readonly detail: string;
}

/** Whole bodies are held in memory until they are stored. */
const BODY_BYTES_MAX = 16 * 1024 * 1024;
const TOO_LARGE: Breach = {
  field: 'workflows',
  detail: `take more than ${BODY_BYTES_MAX} bytes together`,
};
const UNFINISHED_MAX = 256;
const UNFINISHED_LIMIT_MS = 10_000;

interface Page {
  readonly jobId: string;
  readonly terms: unknown;
  readonly gate?: unknown;
  readonly workflows: readonly unknown[];
  readonly page: number;
  readonly pages: number;
}

interface Unfinished {
  /** All of the body that is in every page. */
  readonly frame: string;
  /** The workflows of each page, as text. */
  readonly pages: Map<number, string>;
  bytes: number;
  readonly cancel: Cancel;
}

const frameOf = ({ pages, terms }: Page): string => JSON.stringify([pages, terms]);
const lengthOf = ({ workflows }: Page): number => Buffer.byteLength(JSON.stringify(workflows));

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 1;

/** Puts pages together. */
export class Submissions {
  readonly #clock: Clock;
  readonly #unfinished = new Map<string, Unfinished>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The submission when this was its last missing page, `null` while others are missing, or what is wrong. */
  take(sender: string, page: Page): Submission | Breach | null {
    if (!Array.isArray(page.workflows)) return { field: 'workflows', detail: 'must be a list' };
    if (!isCount(page.page) || !isCount(page.pages))
      return {
        field: 'page',
        detail: `must be numbers from 1 on, got ${page.page} of ${page.pages}`,
      };
    if (page.page > page.pages || page.pages > WORKFLOWS_MAX)
      return { field: 'page', detail: `is ${page.page} of ${page.pages}` };
    if (page.pages === 1)
      return lengthOf(page) > BODY_BYTES_MAX ? TOO_LARGE : check(page, page.workflows);
    const name = `${sender} ${page.jobId}`;
    const text = JSON.stringify(page.workflows);
    const unfinished = this.#find(name, page, text) ?? this.#open(name, page);
    if (unfinished === undefined)
      return { field: 'pages', detail: 'too many submissions are unfinished; send it again' };
    if (!unfinished.pages.has(page.page)) {
      unfinished.pages.set(page.page, text);
      unfinished.bytes += Buffer.byteLength(text);
    }
    if (unfinished.bytes > BODY_BYTES_MAX) {
      this.#close(name);
      return TOO_LARGE;
    }
    if (unfinished.pages.size < page.pages) return null;
    this.#close(name);
    const all = Array.from({ length: page.pages }, (_, n) => unfinished.pages.get(n + 1) ?? '[]');
    return check(
      page,
      all.flatMap((part) => JSON.parse(part) as unknown[]),
    );
  }

  /** Pages of another body under the same id are no part of this one: what came last counts. */
  #find(name: string, page: Page, text: string): Unfinished | undefined {
    const known = this.#unfinished.get(name);
    const isSame = known?.frame === frameOf(page) && (known.pages.get(page.page) ?? text) === text;
    if (known !== undefined && !isSame) this.#close(name);
    return isSame ? known : undefined;
  }

  #open(name: string, page: Page): Unfinished | undefined {
    if (this.#unfinished.size >= UNFINISHED_MAX) return undefined;
    const at = this.#clock.now() + UNFINISHED_LIMIT_MS;
    const cancel = this.#clock.schedule(at, () => this.#unfinished.delete(name));
    const unfinished = { frame: frameOf(page), pages: new Map(), bytes: 0, cancel };
    this.#unfinished.set(name, unfinished);
    return unfinished;
  }

  #close(name: string): void {
    this.#unfinished.get(name)?.cancel();
    this.#unfinished.delete(name);
  }
}

function check(page: Page, entries: readonly unknown[]): Submission | Breach {
  const { jobId } = page;
  if (typeof jobId !== 'string' || !ID_PATTERN.test(jobId))
    return { field: 'jobId', detail: 'must be 1 to 128 letters, digits or "._:-"' };
  const terms = jobTerms.safeParse(page.terms);
  if (!terms.success) return breachOf(terms.error.issues, '');
  const gate = gateTerms.optional().safeParse(page.gate);
  if (!gate.success) return breachOf(gate.error.issues, 'gate');
  if (entries.length < 1 || entries.length > WORKFLOWS_MAX)
    return { field: 'workflows', detail: `must be 1 to ${WORKFLOWS_MAX}, got ${entries.length}` };
  const workflows: WorkflowSpec[] = [];
  for (const [index, entry] of entries.entries()) {
    const workflow = workflowSpec.safeParse(entry);
    if (!workflow.success) return breachOf(workflow.error.issues, `workflows[${index}]`);
    workflows.push(workflow.data);
  }
  const wrong = findWrongDependency(workflows);
  if (wrong !== undefined) return wrong;
  const digest = digestOf(terms.data, gate.data?.gateId, workflows);
  return { jobId, terms: terms.data, gate: gate.data, workflows, digest };
}

export function isBreach(checked: Submission | Breach): checked is Breach {
  return 'field' in checked;
}

function breachOf(
  issues: ReadonlyArray<{ readonly path: readonly PropertyKey[]; readonly message: string }>,
  prefix: string,
): Breach {
  const [issue] = issues;
  const path = (issue?.path ?? []).map(String).join('.');
  return {
    field: [prefix, path].filter((part) => part !== '').join('.') || 'body',
    detail: issue?.message ?? 'is not what was expected',
  };
}

/** Names twice, names that nobody has, and circles. */
function findWrongDependency(workflows: readonly WorkflowSpec[]): Breach | undefined {
  const byId = new Map(workflows.map((workflow) => [workflow.id, workflow]));
  if (byId.size < workflows.length) {
    const seen = new Set<string>();
    const index = workflows.findIndex(({ id }) => seen.size === seen.add(id).size);
    return { field: `workflows[${index}].id`, detail: 'is there twice' };
  }
  const waiting = new Map<string, number>();
  const dependents = new Map<string, string[]>();
  for (const [index, { id, dependsOn }] of workflows.entries()) {
    waiting.set(id, new Set(dependsOn).size);
    for (const parent of new Set(dependsOn)) {
      if (!byId.has(parent))
        return { field: `workflows[${index}].dependsOn`, detail: 'names no workflow of the job' };
      const known = dependents.get(parent);
      if (known === undefined) dependents.set(parent, [id]);
      else known.push(id);
    }
  }
  const free = [...waiting].filter(([, count]) => count === 0).map(([id]) => id);
  for (const id of free) {
    for (const dependent of dependents.get(id) ?? []) {
      const left = (waiting.get(dependent) as number) - 1;
      waiting.set(dependent, left);
      if (left === 0) free.push(dependent);
    }
  }
  if (free.length === workflows.length) return undefined;
  const index = workflows.findIndex(({ id }) => (waiting.get(id) as number) > 0);
  return { field: `workflows[${index}].dependsOn`, detail: 'is part of a circle' };
}

/** Of the body as it was meant: defaults filled in, keys in order, the id left out. */
function digestOf(
  terms: JobTerms,
  gateId: string | undefined,
  workflows: readonly WorkflowSpec[],
): string {
  const text = JSON.stringify(canonical({ terms, gateId, workflows }));
  return createHash('sha256').update(text).digest('base64url');
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const sorted = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, entry]) => [key, canonical(entry)]));
}
