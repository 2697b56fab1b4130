/** Convergence of a gate and its datacenters once the faults are over. */

import { idOf } from '../../../machines/jobs/addresses.ts';
import { isEnded, lostDisk } from '../../invariants.ts';
import type { JobsFacts, JobsInvariant } from '../facts.ts';
import { hasEnded, JobEnds, type JobStanding } from './reading-ends.ts';
import { type GateJobContext, isUnderWay } from './reading-gate.ts';
import { healedAtMs, isInCore, reunionMs, roundTripMs } from './reading-healed.ts';
import { Losses, Stores } from './reading-stores.ts';
import { type FaultRecord, followTurns, together } from './reading-turns.ts';

/**
 * When two places have to have found each other; null when nobody promises that. One that has lost its
 * disk is out of it only until then: it is told again what it knew.
 */
export function reunitedAtMs(
  facts: JobsFacts,
  losses: Losses,
  ...places: readonly string[]
): number | null {
  const healed = healedAtMs(facts);
  if (healed === null || !places.every((place) => isInCore(facts, place))) return null;
  const lost = places.map((place) => losses.lostAtMs(place) ?? 0);
  return Math.max(healed, ...lost) + reunionMs(facts);
}

interface Told {
  readonly gate: string;
  readonly datacenter: string;
  readonly sinceMs: number;
}

export const decisionsArrive: JobsInvariant = {
  id: 'GA-3',
  kind: 'liveness',
  says: 'After a declaration or a cancel the job ends soon in every target that the gate reaches.',
  watch: (facts, verdict) => {
    const jobs = new JobEnds();
    const losses = new Losses();
    const stores = new Stores();
    /** Told ends by address of the job in its datacenter. */
    const told = new Map<string, Told>();
    const limitMs = roundTripMs(facts) * 2 + facts.config.reportIntervalMs;
    const judge = (
      address: string,
      { gate, datacenter, sinceMs }: Told,
      endedAtMs: number,
    ): void => {
      const reunited = reunitedAtMs(facts, losses, gate, datacenter);
      if (reunited === null) return;
      const dueMs = Math.max(sinceMs, reunited) + limitMs;
      const end = jobs.all.get(address)?.endedAtMs ?? null;
      if (end !== null || endedAtMs > dueMs) verdict.exercised();
      if (end === null ? endedAtMs <= dueMs || hasEnded(stores, address) : end <= dueMs) return;
      verdict.broken(
        `${address} was told to end at ${sinceMs} ms and had not ended at ${dueMs} ms`,
      );
    };
    const gates = followTurns<GateJobContext>('gate-job', {
      took({ record, context, last }) {
        const { jobId, gateId, decision, datacenters } = context;
        if (decision === null && (last?.context.decision ?? null) === null) return;
        for (const [datacenter, known] of Object.entries(datacenters)) {
          const address = `job/${jobId}@${datacenter}`;
          const isOwed =
            decision !== null &&
            (known.run === 'final' || (isUnderWay(known) && known.decision !== 'gone'));
          if (!isOwed) told.delete(address);
          else if (!told.has(address))
            told.set(address, { gate: gateId, datacenter, sinceMs: record.atMs });
        }
      },
      // A gate that has forgotten a decision owes it to nobody until it decides again.
      forgot: (address) => {
        for (const [one, { gate }] of told)
          if (`gate-${one.slice(0, one.lastIndexOf('@'))}@${gate}` === address) told.delete(one);
      },
    });
    /** A datacenter that has lost its disk has no job any more that could end. */
    const fault = (record: FaultRecord): void => {
      const place = lostDisk(record);
      for (const [one, { datacenter }] of told) if (datacenter === place) told.delete(one);
    };
    return together(gates, jobs.watch(), losses, {
      commit: stores.commit,
      fault,
      end(endedAtMs) {
        for (const [address, one] of told) judge(address, one, endedAtMs);
      },
    });
  },
};

export const reportsArrive: JobsInvariant = {
  id: 'GA-6',
  kind: 'liveness',
  says: 'A timeout that a datacenter has reported is known to its gate within the fallback time of the gate being back.',
  watch: (facts, verdict) => {
    const jobs = new JobEnds();
    const losses = new Losses();
    const stores = new Stores();
    /** When the gate was first seen to know of it, by address of the job in its datacenter. */
    const known = new Map<string, number>();
    const judge = (
      { address, context, reportedAtMs, endedAtMs }: JobStanding,
      overAtMs: number,
    ): void => {
      const { gateId, datacenter } = context;
      if (gateId === null || reportedAtMs === null) return;
      const reunited = reunitedAtMs(facts, losses, gateId, datacenter);
      if (reunited === null) return;
      const dueMs =
        Math.max(reportedAtMs, reunited) + facts.config.gateFallbackMs + roundTripMs(facts);
      const at = known.get(address) ?? null;
      if (at !== null || overAtMs > dueMs) verdict.exercised();
      if (at !== null ? at <= dueMs : overAtMs <= dueMs) return;
      if ((endedAtMs !== null && endedAtMs <= dueMs) || hasEnded(stores, address)) return;
      verdict.broken(`${gateId} had not heard of the timeout of ${address} at ${dueMs} ms`);
    };
    const gates = followTurns<GateJobContext>('gate-job', {
      took({ record, context, last }) {
        if (context.datacenters === last?.context.datacenters) return;
        for (const [name, { run }] of Object.entries(context.datacenters)) {
          const address = `job/${context.jobId}@${name}`;
          const isKnown = run === 'reported' || run === 'final' || context.outcome !== null;
          if (isKnown && !known.has(address)) known.set(address, record.atMs);
        }
      },
      forgot: (address) => {
        const jobId = idOf(address);
        for (const one of [...known.keys()]) if (one.startsWith(`job/${jobId}@`)) known.delete(one);
      },
    });
    return together(gates, jobs.watch(), losses, {
      commit: stores.commit,
      end(endedAtMs) {
        for (const standing of jobs.all.values()) judge(standing, endedAtMs);
      },
    });
  },
};

/** The last that is known of a job at its gate. */
interface AtGate {
  readonly context: GateJobContext;
  /** When the end in each datacenter was first known. */
  readonly endedAtMs: Readonly<Record<string, number>>;
}

export const agreesInTheEnd: JobsInvariant = {
  id: 'OUT-3',
  kind: 'liveness',
  says: 'A gate learns how a job has ended in each datacenter soon after both are in touch, and has the end that the datacenter has.',
  watch: (facts, verdict) => {
    const jobs = new JobEnds();
    const losses = new Losses();
    const gates = new Map<string, AtGate>();
    /** Closed by what is on disk, also where the gate died before it could tell. */
    const closed = new Set<string>();
    const limitMs = 2 * facts.config.reportIntervalMs + 2 * facts.deltaMs + roundTripMs(facts);
    const judge = ({ address, context, endedAtMs }: JobStanding, overAtMs: number): void => {
      const { gateId, datacenter, jobId } = context;
      if (gateId === null || endedAtMs === null || context.isAbandoned === true) return;
      const reunited = reunitedAtMs(facts, losses, gateId, datacenter);
      const gateJob = `gate-job/${jobId}@${gateId}`;
      if (closed.has(gateJob)) return;
      const there = gates.get(gateJob);
      const known = there?.context.datacenters[datacenter];
      if (known === undefined || known.run === 'refused' || reunited === null) return;
      const dueMs = Math.max(endedAtMs, reunited) + limitMs;
      const at = there?.endedAtMs[datacenter] ?? null;
      if (at !== null || overAtMs > dueMs) verdict.exercised();
      if (known.final === null) {
        if (overAtMs > dueMs && known.decision !== 'gone')
          verdict.broken(`${gateId} did not know at ${dueMs} ms that ${address} had ended`);
        return;
      }
      const { status, reason, gateReason } = known.final;
      if (at !== null && at > dueMs)
        verdict.broken(`${gateId} knew only at ${at} ms that ${address} had ended`);
      if (
        status !== context.status ||
        reason !== context.reason ||
        gateReason !== context.gateReason
      )
        verdict.broken(`${address} ended as ${context.status}, ${gateId} has ${status}`);
    };
    const atGates = followTurns<GateJobContext>('gate-job', {
      took({ record, context, last }) {
        const { address, atMs } = record;
        closed.delete(address);
        const endedAtMs = { ...gates.get(address)?.endedAtMs };
        if (context.datacenters !== last?.context.datacenters)
          for (const [name, { final }] of Object.entries(context.datacenters))
            if (final !== null) endedAtMs[name] ??= atMs;
        gates.set(address, { context, endedAtMs });
      },
      forgot: (address) => gates.delete(address),
    });
    return together(atGates, jobs.watch(), losses, {
      commit({ writes }) {
        for (const { address, record } of writes)
          if (address.startsWith('gate-job/') && record !== null && isEnded(record))
            closed.add(address);
      },
      end(endedAtMs) {
        for (const standing of jobs.all.values()) judge(standing, endedAtMs);
      },
    });
  },
};
