/**
 * Roles of peers: what each may be to a node that it connects to. A program declares its roles by name, and
 * a transport that proves identities is given them; the engine knows no role but by its rights.
 */

export interface PeerRights {
  /** It hosts the place that it names, or stands by for it. Without: its own name is all it hosts. */
  readonly hostsPlace: boolean;
  /**
   * It is no part of the cluster: it shows a token in place of a secret, only asks, only those kinds that are
   * open to clients, and has the lesser limits.
   */
  readonly isClient: boolean;
  /** It may send under names of requests, which belong to no place. */
  readonly repeatsRequests: boolean;
  /** State that it may read from outside: that of actors, what an inspector that is on shows, or nothing. */
  readonly reads: 'actors' | 'inspector' | 'nothing';
  /** Bounds of its frames, besides those of every frame. Default: none, what it says is for its receivers to judge. */
  readonly bounds?: PeerBounds;
}

export interface PeerBounds {
  /** Values in one frame. */
  readonly partsMax: number;
  /** Entries of one list. */
  readonly itemsMax: number;
  /** Keys whose texts have `payloadLengthMax` characters at most, all others `textLengthMax`. Default: all keys. */
  readonly payloadKeys?: readonly string[];
}

/** Role that a program declares. In a list of them each stands above those before it. */
export interface PeerRole extends PeerRights {
  readonly name: string;
  /** Clients show their tokens to holders of its certificates. */
  readonly servesClients: boolean;
  /** `PLACE.ROLE-NAME`, the name of a node in a certificate without a URI, says this role and that place. */
  readonly isInNames: boolean;
}

/** A process of one's own kinds. */
export const NODE_ROLE: PeerRole = {
  name: 'node',
  hostsPlace: true,
  isClient: false,
  repeatsRequests: true,
  reads: 'actors',
  servesClients: true,
  isInNames: false,
};

/** The parser takes some 20 ms for as many. */
const PARTS_MAX = 50_000;
const ITEMS_MAX = 100_000;

/** A client of such processes. */
export const CLIENT_ROLE: PeerRole = {
  name: 'client',
  hostsPlace: false,
  isClient: true,
  repeatsRequests: true,
  reads: 'nothing',
  bounds: { partsMax: PARTS_MAX, itemsMax: ITEMS_MAX },
  servesClients: false,
  isInNames: false,
};

/** Roles of a program that declares none. */
export const DEFAULT_ROLES: readonly PeerRole[] = [CLIENT_ROLE, NODE_ROLE];
