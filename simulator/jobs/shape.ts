/**
 * The shape of a jobs system, for faults: gates and datacenters are its places, and it has messages,
 * deadlines and waits of its own.
 */

import { type JobsConfiguration, leaseRules } from '../../programs/jobs/configuration.ts';
import type { ClusterShape } from '../faults.ts';
import { gatesOf, managersOf, nodesIn, workersOf } from './names.ts';
import type { Topology } from './plan.ts';

export interface JobsShape extends ClusterShape {
  readonly topology: Topology;
  readonly config: JobsConfiguration;
}

/** Messages that decide something, by the type of their event. */
const MESSAGES = [
  'extension.credited',
  'credit.answered',
  'workflow.changed',
  'attempt.placed',
  'slot.granted',
  'result.received',
];
const GATE_MESSAGES = [
  'timeout.reported',
  'timeout.declared',
  'final.reported',
  'leader.transferred',
  'ack.received',
];
/** Deadlines that ends of jobs depend on. */
const LIMITS = ['overallLimit', 'stuckLimit', 'fallbackLimit', 'settleLimit', 'reportInterval'];
const DAY_MS = 86_400_000;

export function shapeOf(topology: Topology, config: JobsConfiguration): JobsShape {
  const { silentAfterMs, stuckThresholdMs, gateFallbackMs, managerLostMs } = config;
  const gates = gatesOf(topology).map(
    (gate) => [gate, { hosts: [gate], nodes: [gate], isElected: false }] as const,
  );
  const datacenters = Object.keys(topology.datacenters).map((name) => {
    const hosts = managersOf(topology, name);
    return [name, { hosts, nodes: nodesIn(topology, name), isElected: true }] as const;
  });
  return {
    topology,
    config,
    places: Object.fromEntries([...gates, ...datacenters]),
    spared: [],
    lease: leaseRules(config),
    messages: gates.length > 0 ? [...MESSAGES, ...GATE_MESSAGES] : MESSAGES,
    limits: LIMITS,
    waitsMs: [silentAfterMs, stuckThresholdMs, gateFallbackMs, managerLostMs],
    skewMaxMs: DAY_MS,
  };
}

export const allGates = ({ topology }: JobsShape): string[] => gatesOf(topology);

export const allManagers = ({ topology }: JobsShape): string[] =>
  Object.keys(topology.datacenters).flatMap((name) => managersOf(topology, name));

export const allWorkers = ({ topology }: JobsShape): string[] =>
  Object.keys(topology.datacenters).flatMap((name) => workersOf(topology, name));

export const hasGate = (shape: JobsShape): boolean => allGates(shape).length > 0;

export const hasWorker = (shape: JobsShape): boolean => allWorkers(shape).length > 0;
