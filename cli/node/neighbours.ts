/**
 * Neighbours of a node: those that its configuration names, in the role that it names them for. Nodes
 * of one's own kinds are for each other, whatever their places.
 *
 * A proof of the secret says that a caller is one of the cluster; this says that it has business
 * here. Nobody may bear the name of a place that is somebody else's, because messages go by it.
 */

import type { NodeConfiguration } from './resolve.ts';

export interface Neighbour {
  readonly node: string;
  readonly role: string;
  readonly place: string;
}

type Own = Pick<NodeConfiguration, 'role' | 'place' | 'datacenter' | 'datacenters' | 'gates'>;

/** The refusal, or nothing. Clients are judged by their tokens. */
export function refuseStranger(own: Own, peer: Neighbour): string | undefined {
  const { node, role, place } = peer;
  if (role === 'client') return undefined;
  if (placesOf(own).includes(node) && node !== place) return `"${node}" is the name of a place`;
  if (isExpected(own, peer)) return undefined;
  return `this ${own.role} has no business with the ${role} ${node} of ${place}`;
}

function isExpected(own: Own, { node, role, place }: Neighbour): boolean {
  const isOfOwnPlace = role === own.role && place === own.place;
  switch (own.role) {
    case 'gate':
      return isOfOwnPlace || (role === 'manager' && own.datacenters.includes(place));
    case 'manager': {
      if (role === 'worker') return node === place && !placesOf(own).includes(node);
      return isOfOwnPlace || (role === 'gate' && own.gates.includes(place));
    }
    case 'worker':
      return role === 'manager' && place === own.datacenter;
    case 'node':
      return role === 'node';
  }
}

function placesOf({ place, datacenter, datacenters, gates }: Own): readonly string[] {
  return [place, datacenter, ...datacenters, ...gates];
}
