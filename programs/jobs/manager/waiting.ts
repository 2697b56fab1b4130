/**
 * Waiting workflows, as the store's index has them: what the worker pool asks for, and how many there are.
 *
 * A search reads the index from where the pool's memory ends, in the order of acceptance, so its cost
 * does not depend on how many wait. It changes nothing; one that fails is made again by the pool.
 */

import { workerPoolAddress } from '../../../machines/jobs/addresses.ts';
import type { LanesFound, Waiting, WaitingFound } from '../../../machines/jobs/messages/local.ts';
import { laneParts, lanesOf } from '../../../machines/jobs/ranks.ts';
import { asWaiting } from '../../../machines/jobs/worker-pool/lanes.ts';
import { mayTake } from '../../../machines/jobs/worker-pool/placement.ts';
import type { Search } from '../../../machines/jobs/worker-pool/searching.ts';
import { rankOfWorkflow, requestOf } from '../../../machines/jobs/workflow/context.ts';
import type { Performer } from '../../../runtime/actor.ts';
import { cursorBehind, cursorBehindQueue, onlyQueue } from '../../../runtime/actor.ts';
import type { ActorRow } from '../../../runtime/api.ts';
import { messageOf } from '../../../runtime/base/errors.ts';
import { knob } from '../../../runtime/base/knob.ts';
import { allRows } from '../jobs-service/all-rows.ts';
import { BEHIND_JOBS } from '../jobs-service/job-order.ts';
import { pendingWork } from '../jobs-service/portions.ts';
import { poolToVersion2, workflowToVersion2 } from './migrations.ts';
import { lookAtWorkflow, type ManagerNode, readWorkflow } from './node.ts';

/** Parts of a manager that a search needs. */
export type Searcher = Pick<ManagerNode, 'runtime' | 'datacenter' | 'clock'>;

type Answer = (answer: LanesFound | WaitingFound) => Promise<void>;
type Page = ReturnType<ManagerNode['runtime']['query']>;

/** Rows looked at before others in the process have their turn. */
const ROWS_AT_ONCE = knob('waitingRowsAtOnce', 500);
/** A workflow that asks again may ask at the soonest then. */
const AGAIN_MS = 1_000;

/** Registration of a workflow, wherever a worker pool is to find those that wait. */
export const WORKFLOW_OPTIONS = {
  rank: rankOfWorkflow,
  forgetsInput: true,
  version: 2,
  migrate: { 2: workflowToVersion2 },
};

/** Registration of a worker pool; the node may be there later than the kind. */
export const poolOptions = (nodeOf: () => Searcher, note: Performer) => ({
  version: 2,
  migrate: { 2: poolToVersion2 },
  perform: {
    note,
    findWaiting: ({ params, send }: { readonly params: Search; readonly send: Answer }) =>
      findWaiting(nodeOf(), params, send),
  },
});

/** Carries out what the worker pool asks. */
async function findWaiting(node: Searcher, search: Search, answer: Answer): Promise<void> {
  const { number } = search;
  if (search.what === 'lanes')
    await answer({ type: 'lanes.found', search: number, lanes: findLanes(node, search.handlers) });
  else await answer({ type: 'waiting.found', search: number, ...(await findInLane(node, search)) });
}

/** The lanes of these handlers that have anybody, each found by going behind the one before. */
function findLanes({ runtime }: Searcher, handlers: readonly string[]): readonly string[] {
  const lanes: string[] = [];
  for (const handler of handlers) {
    const queue = lanesOf(handler);
    let cursor = '';
    while (true) {
      const { actors } = runtime.query({ kind: 'workflow', queue, limit: 1, cursor });
      const lane = actors[0]?.rank?.queue;
      if (lane === undefined) break;
      lanes.push(lane);
      cursor = cursorBehindQueue(lane);
    }
  }
  return lanes;
}

async function findInLane(
  node: Searcher,
  search: Exclude<Search, { readonly what: 'lanes' }>,
): Promise<Pick<WaitingFound, 'found' | 'upTo' | 'isAll'>> {
  const { runtime, clock } = node;
  const { lane, max } = search;
  const queue = onlyQueue(lane);
  const { isFirst } = laneParts(lane);
  const found: Waiting[] = [];
  let upTo = search.after;
  let cursor: string | undefined = cursorBehind(lane, upTo === '' ? undefined : upTo);
  while (cursor !== undefined) {
    const limit =
      search.what === 'next'
        ? Math.min(ROWS_AT_ONCE.value, max - found.length)
        : ROWS_AT_ONCE.value;
    const page: Page = runtime.query({ kind: 'workflow', queue, limit, cursor });
    for (const row of page.actors) {
      // One that is not shown as waiting yet asks in a moment: the next search begins in front of it.
      if (!isFirst && isAhead(node, row)) return { found, upTo, isAll: false };
      upTo = row.rank?.order ?? upTo;
      const one = isFirst ? firstRunOf(row) : read(node, row);
      if (one !== undefined && isWanted(node, search, one)) found.push(one);
      if (found.length === max && search.what === 'fitting') return { found, upTo, isAll: false };
    }
    cursor = page.cursor;
    if (found.length === max) return { found, upTo, isAll: cursor === undefined };
    if (cursor !== undefined) await pendingWork(clock);
  }
  return { found, upTo, isAll: true };
}

/** Entry for a first run, of which the index says it all: `workflow/<job>/<id>@<place>`. */
function firstRunOf({ address, rank }: ActorRow): Waiting {
  const [, jobId = '', rest = ''] = address.split('/');
  return {
    jobId,
    attemptId: `${rest.slice(0, rest.lastIndexOf('@'))}#1`,
    order: rank?.order ?? '',
  };
}

function read(node: Searcher, { address }: ActorRow): Waiting | undefined {
  const workflow = readWorkflow(node as ManagerNode, address as `workflow/${string}`);
  return workflow && asWaiting(requestOf(workflow));
}

/** True when the index has a turn of the workflow that is durable and not shown yet: its attempt is not known. */
function isAhead(node: Searcher, { address, rank }: ActorRow): boolean {
  const shown = lookAtWorkflow(node as ManagerNode, address as `workflow/${string}`);
  return shown !== undefined && rankOfWorkflow(shown)?.order !== rank?.order;
}

function isWanted({ runtime, datacenter }: Searcher, search: Search, one: Waiting): boolean {
  if (search.what !== 'fitting') return true;
  const { workers } = runtime.actor(workerPoolAddress(datacenter)).getSnapshot().context;
  return mayTake(workers, laneParts(search.lane), one, search.workerId);
}

/** More are not counted: a look must not hold up the node. */
const COUNTED_MAX = knob('waitingCountedMax', 10_000);

/**
 * Number of workflows that wait for cores, as far as they are counted; read from the index when
 * somebody looks.
 */
export function waitingCount({ runtime }: Searcher): number {
  let count = 0;
  for (const _ of allRows(runtime, { kind: 'workflow', queue: '', cursor: BEHIND_JOBS }))
    if (++count >= COUNTED_MAX.value) break;
  return count;
}

/** The states in which workflows waited before they had ranks. */
const UNRANKED = ['{"PENDING":"asking"}', '{"PENDING":"turnedAway"}'];

/**
 * Wakes all that wait since a release that had no ranks, once: each asks again, and its record is
 * written with a rank. Whatever fails is tried again while this node hosts.
 */
export function renewUnranked(node: ManagerNode): void {
  const { runtime, clock, logger, datacenter } = node;
  const renew = async (): Promise<void> => {
    for (const state of UNRANKED) {
      while (runtime.isHosting) {
        const { actors } = runtime.query({ kind: 'workflow', state, limit: ROWS_AT_ONCE.value });
        if (actors.length === 0) break;
        const wake = ({ address }: ActorRow) =>
          runtime.actor(address as `workflow/${string}`).send({ type: 'slot.renew' });
        await Promise.all(actors.map(wake));
        await pendingWork(clock);
      }
    }
  };
  renew().catch((thrown: unknown) => {
    logger.warn(
      { datacenter, error: messageOf(thrown) },
      'workflows that wait could not be ranked',
    );
    clock.schedule(clock.now() + AGAIN_MS, () => runtime.isHosting && renewUnranked(node));
  });
}
