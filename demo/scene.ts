/**
 * Scene: what there is to see of the demo at one moment, as plain data.
 */

import type { Cluster } from './cluster.ts';
import type { Happening } from './happenings.ts';
import type { EndStatus, JobBook, KindCount } from './job-book.ts';
import { JOB_KINDS } from './job-kinds.ts';
import type { NodeProcess } from './node-process.ts';
import { DATACENTERS, shortName } from './topology.ts';

export type Phase = 'starting' | 'running' | 'settling' | 'stopping';

export interface Scene {
  readonly phase: Phase;
  readonly runningMs: number;
  /** URL at which the gate can be asked; undefined while it is away. */
  readonly url: string | undefined;
  /** Address of the page; undefined where none is served. */
  readonly page: string | undefined;
  readonly jobs: Readonly<Record<EndStatus, number>> & {
    readonly submitted: number;
    readonly resumed: number;
    readonly open: number;
    readonly wrong: number;
  };
  readonly kinds: ReadonlyArray<
    Readonly<KindCount> & { readonly name: string; readonly about: string }
  >;
  readonly gate: { readonly state: NodeState; readonly fence: number | undefined };
  readonly datacenters: readonly DatacenterScene[];
  readonly happenings: readonly Happening[];
}

export interface DatacenterScene {
  readonly name: string;
  /** Undefined while nobody leads. */
  readonly leader: string | undefined;
  readonly fence: number | undefined;
  readonly standbys: readonly string[];
  readonly workers: ReadonlyArray<{ readonly name: string; readonly state: NodeState }>;
  readonly isCutOff: boolean;
}

export type NodeState = 'up' | 'starting' | 'paused' | 'ending' | 'down';

export function sceneOf(
  {
    phase,
    startedAt,
    now,
    page,
  }: {
    readonly phase: Phase;
    readonly startedAt: number;
    readonly now: number;
    readonly page: string | undefined;
  },
  cluster: Cluster,
  book: JobBook,
  happenings: readonly Happening[],
): Scene {
  const { gate } = cluster;
  return {
    phase,
    runningMs: now - startedAt,
    url: gate.url,
    page,
    jobs: {
      ...book.outcomes,
      submitted: book.submitted,
      resumed: book.resumed,
      open: book.open.size,
      wrong: book.wrong.length,
    },
    kinds: JOB_KINDS.map(({ name, about }) => ({
      name,
      about,
      ...(book.kinds.get(name) ?? { open: 0, right: 0, wrong: 0 }),
    })),
    gate: { state: stateOf(gate), fence: gate.fence },
    datacenters: DATACENTERS.map((name) => datacenterScene(name, cluster)),
    happenings,
  };
}

function datacenterScene(name: (typeof DATACENTERS)[number], cluster: Cluster): DatacenterScene {
  const leader = cluster.leaderOf(name);
  const others = cluster.in(name, 'manager').filter((node) => node !== leader);
  return {
    name,
    leader: leader && shortName(leader.plan.name),
    fence: leader?.fence,
    standbys: others.filter(({ isUp }) => isUp).map(({ plan }) => shortName(plan.name)),
    workers: cluster
      .in(name, 'worker')
      .map((node) => ({ name: shortName(node.plan.name), state: stateOf(node) })),
    isCutOff: cluster.isCutOff(name),
  };
}

function stateOf({ isRunning, isEnding, isPaused, isUp }: NodeProcess): NodeState {
  if (!isRunning) return 'down';
  if (isEnding) return 'ending';
  if (isPaused) return 'paused';
  return isUp ? 'up' : 'starting';
}
