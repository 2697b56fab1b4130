/**
 * Submissions handed over within a process: the jobs service is given the job itself, under a name.
 *
 * The question has the name and nothing of the job. So a job of ten thousand workflows is neither copied
 * nor written down nor cut into parts on its way through one process. A question from another node that has a
 * name is refused at the door.
 */

import type { JobSubmitted } from '../../../machines/jobs/messages/client.ts';

export interface HandedOver {
  readonly jobId: string;
  readonly terms: unknown;
  readonly workflows: readonly unknown[];
  /** The caller has checked terms and workflows, and filled in the defaults. */
  readonly isChecked: boolean;
}

/** The question with what belongs to it, whether it came in it or beside it. */
export type Submitted = Omit<JobSubmitted, 'terms' | 'workflows'> &
  Pick<HandedOver, 'terms' | 'workflows'> & { readonly isChecked?: boolean };

/** By the runtime whose jobs service they are for. */
const HELD = new WeakMap<object, Map<string, HandedOver>>();

/** Holds a job under a name until the function that is returned is called. */
export function handOver(runtime: object, name: string, job: HandedOver): () => void {
  const held = HELD.get(runtime) ?? new Map<string, HandedOver>();
  HELD.set(runtime, held.set(name, job));
  return () => held.delete(name);
}

export function withHandedOver(
  runtime: object,
  question: JobSubmitted & { readonly handedOver?: string },
): Submitted {
  const { handedOver } = question;
  const job = handedOver === undefined ? undefined : HELD.get(runtime)?.get(handedOver);
  // What a question says of itself is not believed.
  return { ...question, isChecked: false, ...job };
}
