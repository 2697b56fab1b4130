/**
 * Names of nodes: `A/manager-1` where people read and write, `A.manager-1` in programs.
 *
 * A gate is `gate-1` in both, and `gate` where there is only one to be meant. The dot is the
 * only one: a datacenter has none in its name.
 */

import type { Topology } from './plan.ts';

/** What people call the first gate. */
export const GATE = 'gate';

/** Names of datacenters. */
export const DATACENTER_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** Names that a datacenter cannot have, for something else has them. */
export function isTakenName(datacenter: string): boolean {
  return /^(gate|client|operator)(-|$)/.test(datacenter);
}

/** `A/manager-1` → `A.manager-1`. */
export const toNodeName = (shown: string): string => shown.replace('/', '.');

/** `A.manager-1` → `A/manager-1`. */
export const toShownName = (node: string): string =>
  node.replace(/\.((?:manager|worker)-\d+)$/, '/$1');

/** The datacenter of a manager or a worker; undefined for a gate. */
export const datacenterOf = (node: string): string | undefined =>
  /^(.+)\.(?:manager|worker)-\d+$/.exec(node)?.[1];

export function gatesOf({ gates }: Topology): string[] {
  return numbered('gate', gates);
}

export function managersOf({ datacenters }: Topology, datacenter: string): string[] {
  return numbered(`${datacenter}.manager`, datacenters[datacenter]?.managers ?? 0);
}

export function workersOf({ datacenters }: Topology, datacenter: string): string[] {
  return numbered(`${datacenter}.worker`, datacenters[datacenter]?.workers ?? 0);
}

/** Gates first, then the managers and workers of each datacenter. */
export function nodesOf(topology: Topology): string[] {
  return [
    ...gatesOf(topology),
    ...Object.keys(topology.datacenters).flatMap((datacenter) => nodesIn(topology, datacenter)),
  ];
}

/** The managers and workers of a datacenter. */
export function nodesIn(topology: Topology, datacenter: string): string[] {
  return [...managersOf(topology, datacenter), ...workersOf(topology, datacenter)];
}

function numbered(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);
}
