/**
 * Secrets that two nodes prove to each other: that which all know, or one for the lesser role of both.
 *
 * With a secret for each role a node knows what it needs to talk to those above it, and nothing by which
 * it could pass for one of them: those prove another one to each other.
 */

import { randomBytes } from 'node:crypto';
import type { PeerRole } from '../../runtime/ports/peer-role.ts';

/** Secrets by role: nodes of that role, and those above it, know each. The rest prove `secret`. */
export type RoleSecrets = Readonly<Record<string, string>>;

export class Secrets {
  readonly #own: string;
  /** Names of all roles, from the least to the greatest. */
  readonly #ranks: readonly string[];
  readonly #shared: string | undefined;
  readonly #byRole: RoleSecrets;
  /** Secret of links that nobody can have: no proof of it is ever good. */
  readonly #nobodys = randomBytes(32).toString('base64url');

  constructor(
    own: string,
    roles: readonly PeerRole[],
    shared: string | undefined,
    byRole: RoleSecrets = {},
  ) {
    this.#own = own;
    this.#ranks = roles.map(({ name }) => name);
    this.#shared = shared;
    this.#byRole = byRole;
  }

  /** Secret that this node and one of that role prove to each other; empty where neither has a secret. */
  with(role: string): string {
    const ranks = this.#ranks;
    const lesser = ranks.indexOf(role) < ranks.indexOf(this.#own) ? role : this.#own;
    const isBare = this.#shared === undefined && Object.keys(this.#byRole).length === 0;
    return this.#byRole[lesser] ?? this.#shared ?? (isBare ? '' : this.#nobodys);
  }
}

export function isRoleWithSecret(role: string, roles: readonly PeerRole[]): boolean {
  return roles.some(({ name, isClient }) => name === role && !isClient);
}
