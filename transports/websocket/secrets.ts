/**
 * Secrets that two nodes prove to each other: that which all know, or one for the lesser role of both.
 *
 * With a secret for each role a worker knows what it needs to talk to managers, and nothing by which
 * it could pass for a gate or a manager: those prove another one to each other.
 */

import { randomBytes } from 'node:crypto';
import { PEER_ROLES, type PeerRole } from '../../runtime/ports/transport.ts';

/** Secrets by role: nodes of that role, and those above it, know each. The rest prove `secret`. */
export type RoleSecrets = Readonly<Partial<Record<PeerRole, string>>>;

/** Roles from the least to the greatest. */
const RANKS: readonly PeerRole[] = ['client', 'worker', 'gate', 'manager', 'node'];

export class Secrets {
  readonly #own: PeerRole;
  readonly #shared: string | undefined;
  readonly #byRole: RoleSecrets;
  /** Secret of links that nobody can have: no proof of it is ever good. */
  readonly #nobodys = randomBytes(32).toString('base64url');

  constructor(own: PeerRole, shared: string | undefined, byRole: RoleSecrets = {}) {
    this.#own = own;
    this.#shared = shared;
    this.#byRole = byRole;
  }

  /** Secret that this node and one of that role prove to each other; empty where neither has a secret. */
  with(role: PeerRole): string {
    const lesser = RANKS.indexOf(role) < RANKS.indexOf(this.#own) ? role : this.#own;
    const isBare = this.#shared === undefined && Object.keys(this.#byRole).length === 0;
    return this.#byRole[lesser] ?? this.#shared ?? (isBare ? '' : this.#nobodys);
  }
}

export function isRoleWithSecret(role: string): boolean {
  return role !== 'client' && PEER_ROLES.some((known) => known === role);
}
