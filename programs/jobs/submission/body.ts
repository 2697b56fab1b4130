/**
 * Body of a submission: checked and digested part by part, as its parts come.
 *
 * Guarantees: what comes out is complete and keeps every limit; a breach is named by its field, the
 * first one in the order of the body, in whatever order its parts came. No part of it takes long,
 * and neither does the last.
 */

import { createHash } from 'node:crypto';
import { ID_PATTERN } from '../../../machines/jobs/addresses.ts';
import {
  type JobTerms,
  jobTerms,
  WORKFLOWS_MAX,
  type WorkflowSpec,
  workflowSpec,
} from '../../../machines/jobs/messages/client.ts';
import { type GateTerms, gateTerms } from '../../../machines/jobs/messages/fields.ts';
import type { Steps } from '../jobs-service/slices.ts';
import { type Breach, breachOf, findWrongDependency } from './breach.ts';

export interface Submission {
  readonly jobId: string;
  readonly terms: JobTerms;
  readonly gate: GateTerms | undefined;
  readonly workflows: readonly WorkflowSpec[];
  readonly digest: string;
}

/** Head: what is in every part. */
export interface SubmissionHead {
  readonly jobId: string;
  readonly terms: unknown;
  readonly gate?: unknown;
  /** Terms and workflows were checked where they came from, in this process. */
  readonly isChecked?: boolean;
}

interface Part {
  /** Digest of its text as it came, to know it again. */
  readonly digest: string;
  readonly count: number;
  readonly workflows: readonly WorkflowSpec[];
  /** Its workflows as they were meant, for the digest; let go once they are in it. */
  text: string | undefined;
  /** The first one that is wrong: which of the part, and what of it. */
  readonly wrong: {
    readonly index: number;
    readonly issues: Parameters<typeof breachOf>[0];
  } | null;
}

/**
 * Bytes of an id beside its text: its quotes, a comma and the letter of its state; of a place its
 * digits and a comma.
 */
const ID_BYTES = 4;
const PLACE_BYTES = 5;

export class SubmissionBody {
  readonly #jobId: string;
  readonly #isChecked: boolean;
  readonly #terms: ReturnType<typeof jobTerms.safeParse>;
  readonly #parts = new Map<number, Part>();
  readonly #hash = createHash('sha256');
  #hashed = 0;
  #hasText = false;
  /** Bytes as one list: its brackets, then the workflows of each part with a comma. */
  #bytes = 1;
  #dependencies = 0;
  #tableBytes = 0;

  constructor({ jobId, terms, gate, isChecked = false }: SubmissionHead) {
    this.#jobId = jobId;
    this.#isChecked = isChecked;
    this.#terms = isChecked
      ? { success: true, data: terms as JobTerms }
      : jobTerms.safeParse(terms);
    const { gateId } = gateTerms.optional().safeParse(gate).data ?? {};
    const head = JSON.stringify(canonical({ terms: this.#terms.data, gateId }));
    this.#hash.update(`${head.slice(0, -1)},"workflows":[`);
  }

  /** Size of all that has come, as JSON. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of dependencies that its workflows have together. */
  get dependencies(): number {
    return this.#dependencies;
  }

  /** About what ids and dependencies will take in the record of the job: a dependency is a place in the list. */
  get tableBytes(): number {
    return this.#tableBytes;
  }

  get pages(): number {
    return this.#parts.size;
  }

  /** False when it is not the part that came under this number before. */
  take(page: number, workflows: readonly unknown[]): boolean {
    if (this.#isChecked) {
      // Its reader has counted its bytes, and no part of it comes again.
      this.#add(page, partOf(workflows as readonly WorkflowSpec[], ''));
      return true;
    }
    const text = JSON.stringify(workflows);
    const digest = createHash('sha256').update(text).digest('base64url');
    const known = this.#parts.get(page);
    if (known !== undefined) return known.digest === digest;
    this.#bytes += Buffer.byteLength(text) - 1;
    this.#add(page, checked(workflows, digest));
    return true;
  }

  #add(page: number, part: Part): void {
    this.#parts.set(page, part);
    for (const { id, dependsOn } of part.workflows) {
      this.#dependencies += dependsOn.length;
      this.#tableBytes += id.length + ID_BYTES + dependsOn.length * PLACE_BYTES;
    }
    for (let next = this.#next(); next !== undefined; next = this.#next()) this.#digest(next);
  }

  /**
   * Finishes when all its parts have come; the last one says how late it is. Of ten thousand workflows
   * it takes a while.
   */
  *finish(gate: unknown): Steps<Submission | Breach> {
    if (typeof this.#jobId !== 'string' || !ID_PATTERN.test(this.#jobId))
      return { field: 'jobId', detail: 'must be 1 to 128 letters, digits or "._:-"' };
    if (!this.#terms.success) return breachOf(this.#terms.error.issues, '');
    const from = gateTerms.optional().safeParse(gate);
    if (!from.success) return breachOf(from.error.issues, 'gate');
    const parts = Array.from({ length: this.pages }, (_, n) => this.#parts.get(n + 1) as Part);
    const count = parts.reduce((sum, part) => sum + part.count, 0);
    if (count < 1 || count > WORKFLOWS_MAX)
      return { field: 'workflows', detail: `must be 1 to ${WORKFLOWS_MAX}, got ${count}` };
    let before = 0;
    for (const { wrong, count: own } of parts) {
      if (wrong !== null) return breachOf(wrong.issues, `workflows[${before + wrong.index}]`);
      before += own;
    }
    const workflows = parts.flatMap((part) => part.workflows);
    const dependency = yield* findWrongDependency(workflows);
    if (dependency !== undefined) return dependency;
    const digest = this.#hash.update(']}').digest('base64url');
    return {
      jobId: this.#jobId,
      terms: this.#terms.data,
      gate: from.data,
      workflows,
      digest,
    };
  }

  /** The next part in order, if it is there. */
  #next(): Part | undefined {
    return this.#parts.get(this.#hashed + 1);
  }

  /** Digests the body as it was meant: defaults filled in, keys in order, the id left out. */
  #digest(part: Part): void {
    this.#hashed += 1;
    if (part.text !== undefined && part.text !== '')
      this.#hash.update(this.#hasText ? `,${part.text}` : part.text);
    this.#hasText ||= part.text !== '';
    part.text = undefined;
  }
}

function checked(entries: readonly unknown[], digest: string): Part {
  const workflows: WorkflowSpec[] = [];
  const count = entries.length;
  for (const [index, entry] of entries.entries()) {
    const workflow = workflowSpec.safeParse(entry);
    if (!workflow.success) {
      const wrong = { index, issues: workflow.error.issues };
      return { digest, count, workflows: [], text: '', wrong };
    }
    workflows.push(workflow.data);
  }
  return partOf(workflows, digest);
}

function partOf(workflows: readonly WorkflowSpec[], digest: string): Part {
  const text = JSON.stringify(canonical(workflows)).slice(1, -1);
  return { digest, count: workflows.length, workflows, text, wrong: null };
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const sorted = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, entry]) => [key, canonical(entry)]));
}
