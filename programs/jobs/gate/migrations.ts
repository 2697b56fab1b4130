/**
 * Migrations of records of gates of earlier releases to the form that this one knows.
 *
 * Version 2 of `gate-job`: each datacenter has the three states of its chart in place of a phase and of what
 * it made of the decision; a declaration is in the state of its reason; who was not heard since a restart is
 * caught up with.
 * Version 3: what is heard while it tracks the job is a region, and no deadline is written down beside its timer.
 * Version 4: each datacenter has when its contact became what it is, the question it was asked, and the start of
 * the job as its fastest word tells.
 */

import { UNHEARD } from '../../../machines/jobs/datacenter/context.ts';
import type { MigratedState } from '../../../runtime/actor.ts';

interface Persisted {
  readonly value: unknown;
  readonly context: {
    readonly datacenters: Readonly<Record<string, FormerDatacenter>>;
    readonly unheard: readonly string[];
    readonly decision: { readonly reason?: string } | null;
    readonly [field: string]: unknown;
  };
}

interface FormerDatacenter {
  readonly phase: string;
  readonly askedAt: number | null;
  readonly lastSeenAt: number;
  readonly told: { readonly answer: string; readonly [field: string]: unknown } | null;
  readonly [field: string]: unknown;
}

function gateJobToVersion2({ snapshot, timers }: MigratedState): MigratedState {
  const { value, context } = snapshot as Persisted;
  const { datacenters, unheard, ...kept } = context;
  const now = Object.entries(datacenters).map(([name, one]) => [
    name,
    datacenterNow(one, unheard.includes(name)),
  ]);
  return {
    snapshot: {
      ...(snapshot as Persisted),
      value: valueNow(value, context),
      context: { ...kept, datacenters: Object.fromEntries(now) },
    },
    timers,
  };
}

function valueNow(value: unknown, { decision }: Persisted['context']): unknown {
  if (value === 'declaring') return { declaring: decision?.reason ?? 'overall' };
  const { tracking } = (value ?? {}) as { readonly tracking?: object };
  return tracking === undefined ? value : { tracking: { ...tracking, catchUpLimit: 'off' } };
}

/** A datacenter that was told and had ended has its end on the way, as one that refused has its reason. */
function datacenterNow(
  { phase, told, ...kept }: FormerDatacenter,
  isUnheard: boolean,
): Record<string, unknown> {
  const { answer = 'none', ...sent } = told ?? {};
  const silent = kept.askedAt === null ? 'heard' : 'silent';
  return {
    ...UNHEARD,
    ...kept,
    run: phase,
    decision: answer === 'ended' ? 'deferred' : answer,
    contact: isUnheard ? 'catchingUp' : silent,
    gapAt: isUnheard ? kept.lastSeenAt : 0,
    told: told === null ? null : sent,
  };
}

/** Deadlines keep their names and moments. */
function gateJobToVersion3({ snapshot, timers }: MigratedState): MigratedState {
  const { value, context } = snapshot as Persisted;
  const { overallDueAt: _, silenceDueAt: __, catchUpDueAt: ___, ...kept } = context;
  const { tracking } = (value ?? {}) as { readonly tracking?: object };
  return {
    snapshot: {
      ...(snapshot as Persisted),
      value: tracking === undefined ? value : { tracking: { hearing: {}, ...tracking } },
      context: kept,
    },
    timers,
  };
}

interface ThirdDatacenter {
  readonly gapAt: number;
  readonly nonce: string | null;
  readonly elapsedMs: number;
  readonly lastProgressAt: number;
  readonly sinceProgressMs: number | null;
  readonly [field: string]: unknown;
}

/** A question of before the upgrade is asked again: when it was asked is not known. */
function gateJobToVersion4({ snapshot, timers }: MigratedState): MigratedState {
  const { context } = snapshot as Persisted;
  const now = Object.entries(context.datacenters).map(([name, one]) => {
    const { gapAt, nonce: _, ...kept } = one as unknown as ThirdDatacenter;
    const { sinceProgressMs, lastProgressAt, elapsedMs } = kept;
    const startedAt =
      sinceProgressMs === null ? null : lastProgressAt + sinceProgressMs - elapsedMs;
    return [name, { ...kept, contactSince: gapAt, question: null, startedAt }];
  });
  return {
    snapshot: {
      ...(snapshot as Persisted),
      context: { ...context, datacenters: Object.fromEntries(now) },
    },
    timers,
  };
}

/** Registration of a gate's job, wherever its records are read. */
export const GATE_JOB_OPTIONS = {
  version: 4,
  migrate: { 2: gateJobToVersion2, 3: gateJobToVersion3, 4: gateJobToVersion4 },
};
