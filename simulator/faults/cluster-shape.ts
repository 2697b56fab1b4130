/**
 * The shape of a cluster: what is known of it before it runs, as far as faults can aim at it.
 *
 * A system in a pretend world describes itself in these words; its own faults may know more of it.
 */

import type { LeaseRules } from '../../machines/lease-rules.ts';

export interface PlaceShape {
  /** Nodes that can host the place; several elect their leader. */
  readonly hosts: readonly string[];
  /** Nodes that are struck together with the place: its hosts, and those that work for it. */
  readonly nodes: readonly string[];
  /** Whether its hosts hold it by a lease that they elect a holder of. */
  readonly isElected: boolean;
}

export interface ClusterShape {
  readonly places: Readonly<Record<string, PlaceShape>>;
  /** Nodes that see what happens to the cluster and are never struck themselves. */
  readonly spared: readonly string[];
  /** How hosts of places are elected. */
  readonly lease: LeaseRules;
  /** Types of the events at which faults may aim. */
  readonly messages: readonly string[];
  /** Names of the delays at which faults may aim. */
  readonly limits: readonly string[];
  /** Lengths of time for which something in the cluster waits for something else. */
  readonly waitsMs: readonly number[];
  /** The furthest that a fault puts a clock off. */
  readonly skewMaxMs: number;
}

export const allNodes = ({ places }: ClusterShape): string[] =>
  Object.values(places).flatMap(({ nodes }) => nodes);

export const allPlaces = ({ places }: ClusterShape): string[] => Object.keys(places);

/** Places whose nodes elect a leader. */
export const electedPlaces = ({ places }: ClusterShape): string[] =>
  Object.keys(places).filter((place) => places[place]?.isElected);

/** A place whose leader another node can follow. */
export const hasStandby = (shape: ClusterShape): boolean => withStandby(shape).length > 0;

/** Elected places that have more than one host. */
export const withStandby = (shape: ClusterShape): string[] =>
  electedPlaces(shape).filter((place) => (shape.places[place]?.hosts.length ?? 0) > 1);

/** Enough nodes for a shape of which some reach each other and some do not. */
export const hasFourNodes = (shape: ClusterShape): boolean => allNodes(shape).length >= 4;
