/** Plan of a cluster: its nodes, and their names: `gate-1`, `A.manager-1`, `A.worker-1`. */

import type { JobsConfiguration } from '../../../programs/jobs/configuration.ts';
import type { Disks } from './disks.ts';

export interface DatacenterPlan {
  /** Default 1. */
  readonly managers?: number;
  /** Default 0. */
  readonly workers?: number;
  /** Of each worker. Default 4. */
  readonly cores?: number;
  /** True: managers lead only when the script says so, the first one from the start. */
  readonly isAppointed?: boolean;
}

export interface ClusterPlan {
  /** Default 0. */
  readonly gates?: number;
  readonly datacenters: Readonly<Record<string, DatacenterPlan>>;
  readonly config?: Partial<JobsConfiguration>;
  /** Default 50 each way. */
  readonly delayMs?: number | readonly [minMs: number, maxMs: number];
  /** Default 1. */
  readonly seed?: number;
  /** Wall clocks that are off from the start, by node. */
  readonly skews?: Readonly<Record<string, number>>;
  /** How long a store in memory takes for a group. Default 0. */
  readonly commitMs?: number;
  /** Where gates and managers keep what they store. Default: in memory. */
  readonly disks?: Disks;
  /** How frames travel: in memory, or over real sockets. Default: what ESCAPEMENT_TEST_TRANSPORT says, or in memory. */
  readonly transport?: 'memory' | 'websocket';
}

export function isOverSockets({ transport }: ClusterPlan): boolean {
  return (transport ?? process.env['ESCAPEMENT_TEST_TRANSPORT']) === 'websocket';
}

export function gatesOf(plan: ClusterPlan): string[] {
  return numbered('gate', plan.gates ?? 0);
}

export function managersOf(plan: ClusterPlan, datacenter: string): string[] {
  return numbered(`${datacenter}.manager`, plan.datacenters[datacenter]?.managers ?? 1);
}

export function workersOf(plan: ClusterPlan, datacenter: string): string[] {
  return numbered(`${datacenter}.worker`, plan.datacenters[datacenter]?.workers ?? 0);
}

/** The place whose data a node has: its datacenter for a manager, otherwise itself. */
export function placeOfNode(node: string): string {
  return /^(.+)\.manager-\d+$/.exec(node)?.[1] ?? node;
}

function numbered(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);
}
