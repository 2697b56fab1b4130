import { describe, expect, test } from 'vitest';
import { type Neighbour, refuseStranger } from '../../cli/node/neighbours.ts';

const NOBODY = { datacenter: '', datacenters: [], gates: [] };
const GATE = { ...NOBODY, role: 'gate', place: 'gate', datacenters: ['A', 'B'] } as const;
const MANAGER = {
  ...NOBODY,
  role: 'manager',
  place: 'A',
  datacenter: 'A',
  gates: ['gate'],
} as const;
const WORKER = { ...NOBODY, role: 'worker', place: 'w1', datacenter: 'A' } as const;

const peer = (role: Neighbour['role'], place: string, node = place): Neighbour => ({
  role,
  place,
  node,
});

describe('who has business with', () => {
  const manager = peer('manager', 'A', 'A.manager-1');

  test.each([
    [GATE, manager],
    [GATE, peer('gate', 'gate', 'gate-2')],
    [MANAGER, manager],
    [MANAGER, peer('gate', 'gate')],
    [MANAGER, peer('worker', 'w1')],
    [WORKER, manager],
    [GATE, peer('client', 'alice~1')],
  ])('$role: $role of $place', (own, caller) => {
    expect(refuseStranger(own, caller)).toBeUndefined();
  });

  test.each([
    [GATE, peer('manager', 'C', 'C.manager-1')],
    [GATE, peer('worker', 'w1')],
    [GATE, peer('gate', 'other')],
    [GATE, peer('node', 'gate')],
    [MANAGER, peer('manager', 'B', 'B.manager-1')],
    [MANAGER, peer('gate', 'other')],
    [MANAGER, peer('worker', 'B', 'w1')],
    [MANAGER, peer('worker', 'A')],
    [MANAGER, peer('worker', 'gate')],
    [WORKER, peer('manager', 'B', 'B.manager-1')],
    [WORKER, peer('worker', 'w2')],
  ])('$role, but not: $role of $place', (own, caller) => {
    expect(refuseStranger(own, caller)).toMatch('no business');
  });

  test('nobody who bears the name of a place that he does not speak for', () => {
    const forged = peer('manager', 'A', 'gate');
    expect(refuseStranger(MANAGER, forged)).toBe('"gate" is the name of a place');
    expect(refuseStranger(GATE, { ...forged, node: 'B' })).toBe('"B" is the name of a place');
  });
});
