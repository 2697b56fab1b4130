/**
 * Workers of all datacenters of a gate, which asks each of them.
 *
 * A worker's name is its place, so no two datacenters have one of the same name and one cursor
 * serves for all. A datacenter that does not answer is named.
 */

import type { WorkerPage, WorkersAsked } from '../../../machines/jobs/messages/client.ts';

/** Answer of one datacenter; undefined when it does not answer. */
export type AskDatacenter = (
  datacenter: string,
  question: Omit<WorkersAsked, 'replyTo'>,
) => Promise<WorkerPage | undefined>;

export async function listWorkers(
  datacenters: readonly string[],
  ask: AskDatacenter,
  { replyTo: _, ...question }: WorkersAsked,
): Promise<WorkerPage> {
  const pages = await Promise.all(datacenters.map((name) => ask(name, question)));
  const all = pages
    .flatMap((page) => page?.workers ?? [])
    .sort((one, other) => (one.workerId < other.workerId ? -1 : 1));
  const workers = all.slice(0, question.limit);
  const isMore = all.length > question.limit || pages.some((page) => page?.cursor != null);
  return {
    workers,
    cursor: isMore ? (workers.at(-1)?.workerId ?? null) : null,
    unanswered: datacenters.filter((_name, index) => pages[index] === undefined),
  };
}
