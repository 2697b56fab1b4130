/**
 * Roles of the nodes of the jobs system, for transports that prove who is at the other end.
 *
 * With a secret for each role a worker knows what it needs to talk to managers, and nothing by which it could
 * pass for a gate or a manager: those prove another one to each other.
 */

import {
  CLIENT_ROLE,
  NODE_ROLE,
  type PeerBounds,
  type PeerRole,
} from '../../runtime/ports/peer-role.ts';
import type { PeerIdentity } from '../../runtime/ports/transport.ts';

export type JobsRole = 'client' | 'worker' | 'gate' | 'manager' | 'node';

/** A page of 500 jobs has some ten thousand. */
const PARTS_MAX = 50_000;
/** The densest part of a submission has some forty thousand, ids of one letter that a workflow depends on. */
const ITEMS_MAX = 100_000;
/** Payloads and results are texts of users that are not looked into. */
const BOUNDS: PeerBounds = {
  partsMax: PARTS_MAX,
  itemsMax: ITEMS_MAX,
  payloadKeys: ['payload', 'result'],
};

/** It repeats nothing under names of requests: they would be senders that nobody is answerable for. */
const MEMBER = { isClient: false, repeatsRequests: false, bounds: BOUNDS, isInNames: true };
const HOST = { ...MEMBER, hostsPlace: true, reads: 'inspector', servesClients: true } as const;

/** Roles from the least to the greatest. `node` is a process of one's own kinds beside the jobs system. */
export const JOBS_ROLES: readonly PeerRole[] = [
  { ...CLIENT_ROLE, bounds: BOUNDS },
  { ...MEMBER, name: 'worker', hostsPlace: false, reads: 'nothing', servesClients: false },
  { ...HOST, name: 'gate' },
  { ...HOST, name: 'manager' },
  { ...NODE_ROLE, servesClients: false },
];

/** Identity of a node of the jobs system. */
export function jobsPeer(role: JobsRole, place: string): PeerIdentity {
  const rights = JOBS_ROLES.find(({ name }) => name === role) as PeerRole;
  return { role, place, rights };
}
