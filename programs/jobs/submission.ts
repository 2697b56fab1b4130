/**
 * Submissions on their way in: put together from their parts.
 *
 * A client's submissions of one job are kept apart by their request. At most one of each is unfinished, and not for
 * long without a new part. What is in a body, and what may be wrong with it, is in submission/body.ts.
 */

import { WORKFLOWS_MAX } from '../../machines/jobs/messages/client.ts';
import { knob } from '../../runtime/base/knob.ts';
import type { Cancel, Clock } from '../../runtime/ports/clock.ts';
import type { JobsConfiguration } from './configuration.ts';
import { inPortions } from './jobs-service/portions.ts';
import { inSlices, SLICE_WEIGHT } from './jobs-service/slices.ts';
import { type Submission, SubmissionBody, type SubmissionHead } from './submission/body.ts';
import type { Breach } from './submission/breach.ts';
import { workflowPortion } from './submission/parts.ts';

export type { Submission } from './submission/body.ts';
export type { Breach } from './submission/breach.ts';

/** Whole bodies are held in memory until they are stored. */
const BODY_BYTES_MAX = 16 * 1024 * 1024;
const UNFINISHED_MAX = knob('submissionsUnfinishedMax', 256);
const UNFINISHED_LIMIT_MS = 10_000;
/** Nothing is wrong with it: there is no room for its parts beside those of others. */
const NO_ROOM: NoRoom = {
  reason: 'overloaded',
  detail: 'Too many submissions are unfinished; send it again.',
  retryAfterMs: 1_000,
};

export interface NoRoom {
  readonly reason: 'overloaded';
  readonly detail: string;
  readonly retryAfterMs: number;
}

interface Part extends SubmissionHead {
  readonly requestId?: string | undefined;
  readonly workflows: readonly unknown[];
  readonly page: number;
  readonly pages: number;
}

interface Unfinished {
  /** All of the body that is in every part. */
  readonly frame: string;
  readonly body: SubmissionBody;
  /** Cancels the end that comes when no further part does. */
  cancel: Cancel;
}

const frameOf = ({ pages, terms, gate }: Part): string =>
  JSON.stringify([pages, terms, (gate as { gateId?: unknown } | null | undefined)?.gateId]);

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 1;

type SubmissionLimits = Pick<JobsConfiguration, 'dependenciesMax' | 'jobTableBytesMax'>;

/** Puts parts together. */
export class Submissions {
  readonly #clock: Clock;
  readonly #limits: SubmissionLimits;
  readonly #sliceWeightMax: number;
  readonly #unfinished = new Map<string, Unfinished>();

  constructor(clock: Clock, limits: SubmissionLimits, sliceWeightMax = SLICE_WEIGHT.value) {
    this.#clock = clock;
    this.#limits = limits;
    this.#sliceWeightMax = sliceWeightMax;
  }

  /** The submission when this was its last missing part, `null` while others are missing, or why it is refused. */
  async take(sender: string, part: Part): Promise<Submission | Breach | NoRoom | null> {
    if (!Array.isArray(part.workflows)) return { field: 'workflows', detail: 'must be a list' };
    if (!isCount(part.page) || !isCount(part.pages))
      return {
        field: 'page',
        detail: `must be numbers from 1 on, got ${part.page} of ${part.pages}`,
      };
    if (part.page > part.pages || part.pages > WORKFLOWS_MAX)
      return { field: 'page', detail: `is ${part.page} of ${part.pages}` };
    if (part.pages === 1) {
      const body = new SubmissionBody(part);
      return (await this.#takeAll(body, part)) ?? this.#finish(body, part);
    }
    const name = `${sender} ${part.jobId} ${part.requestId ?? ''}`;
    const body = this.#find(name, part) ?? this.#open(name, part);
    if (body === undefined) return NO_ROOM;
    const excess = this.#excess(body);
    if (excess !== undefined) {
      this.#close(name);
      return excess;
    }
    if (body.pages < part.pages) return null;
    this.#close(name);
    return this.#finish(body, part);
  }

  /** A whole job may have come within the process: it is looked at in portions. */
  async #takeAll(body: SubmissionBody, { workflows }: Part): Promise<Breach | undefined> {
    let portions = 0;
    let excess: Breach | undefined;
    await inPortions(this.#clock, workflows, workflowPortion(), (portion) => {
      portions += 1;
      if (excess === undefined) body.take(portions, portion);
      excess ??= this.#excess(body);
    });
    return excess;
  }

  #finish(body: SubmissionBody, { gate }: Part): Promise<Submission | Breach> {
    return inSlices(this.#clock, body.finish(gate), this.#sliceWeightMax);
  }

  /** Excess of what has come already: it need not be whole to be too much. */
  #excess({ bytes, dependencies, tableBytes }: SubmissionBody): Breach | undefined {
    const { dependenciesMax, jobTableBytesMax } = this.#limits;
    if (bytes > BODY_BYTES_MAX)
      return tooLarge('workflows', `take more than ${BODY_BYTES_MAX} bytes together`);
    if (dependencies > dependenciesMax)
      return tooLarge(
        'workflows.dependsOn',
        `${dependencies} dependencies or more are too many (dependenciesMax ${dependenciesMax})`,
      );
    if (tableBytes <= jobTableBytesMax) return undefined;
    return tooLarge(
      'workflows',
      `ids and dependencies would take ${tableBytes} bytes or more in the record of the job (jobTableBytesMax ${jobTableBytesMax})`,
    );
  }

  /** Parts of another body under the same name are no part of this one: what came last counts. */
  #find(name: string, part: Part): SubmissionBody | undefined {
    const known = this.#unfinished.get(name);
    if (known === undefined) return undefined;
    const { body, frame } = known;
    const { pages } = body;
    if (frame === frameOf(part) && body.take(part.page, part.workflows)) {
      if (body.pages > pages) {
        known.cancel();
        known.cancel = this.#endLater(name);
      }
      return body;
    }
    this.#close(name);
    return undefined;
  }

  #open(name: string, part: Part): SubmissionBody | undefined {
    if (this.#unfinished.size >= UNFINISHED_MAX.value) return undefined;
    const cancel = this.#endLater(name);
    const body = new SubmissionBody(part);
    body.take(part.page, part.workflows);
    this.#unfinished.set(name, { frame: frameOf(part), body, cancel });
    return body;
  }

  #endLater(name: string): Cancel {
    const at = this.#clock.now() + UNFINISHED_LIMIT_MS;
    return this.#clock.schedule(at, () => this.#unfinished.delete(name));
  }

  #close(name: string): void {
    this.#unfinished.get(name)?.cancel();
    this.#unfinished.delete(name);
  }
}

const tooLarge = (field: string, detail: string): Breach => ({ field, detail, isTooLarge: true });

export function isBreach<TRefusal extends Breach | NoRoom>(
  checked: Submission | TRefusal,
): checked is TRefusal {
  return 'detail' in checked;
}
