/**
 * A kind of the nemesis menu: something that may be done to a cluster, as data and as a deed.
 *
 * Drawing makes the data, before the run and from chance alone; beginning does it, at its moment, to
 * the cluster as it is then. What cannot be done then is left out.
 */

import type { LeaseRules } from '../../machines/jobs/rules.ts';
import type { JobsConfiguration } from '../../programs/jobs/configuration.ts';
import type { Nemesis, PlannedJob, Topology } from '../jobs/plan.ts';
import type { Chance } from '../world/chance.ts';
import type { Strike } from './strike.ts';

export interface NemesisKind {
  /** Names it in plans and on the command line. */
  readonly kind: string;
  /** One sentence for people. */
  readonly says: string;
  /** Whether it can do anything to such a cluster. Default: yes. */
  readonly fits?: (cluster: ClusterShape) => boolean;
  readonly draw: (chance: Chance, cluster: ClusterShape) => DrawnNemesis;
  /** The faults of a drawn run go on until it is over. Default: it ends when they do. */
  readonly isPatient?: boolean;
  /** Drawn by swarm/aimed.ts alone, not among all others. */
  readonly isDrawnApart?: boolean;
  /** How far it can put the wall clock of a node off. Default: not at all. */
  readonly epsilonMs?: (nemesis: Nemesis) => number;
  /** In a task of the clock. Whatever it does ends with the strike. */
  readonly begin: (strike: Strike) => void;
}

/** What a nemesis is beside its moment; its length is drawn where the run is known, unless the kind has one. */
export type DrawnNemesis = Pick<Nemesis, 'targets' | 'params'> & Partial<Pick<Nemesis, 'durMs'>>;

/** What is known of a cluster before it runs. */
export type ClusterShape = JobsShape | OwnShape;

/** A cluster of the jobs system. */
export interface JobsShape {
  readonly topology: Topology;
  readonly config: JobsConfiguration;
  /** What it is asked to do. Default: not known. */
  readonly jobs?: readonly PlannedJob[];
}

/** A cluster of anybody's own machines. */
export interface OwnShape {
  /** Nodes of each place, which elect its host among themselves. */
  readonly places: Readonly<Record<string, readonly string[]>>;
  readonly lease: LeaseRules;
  /** Types of the events that its actors take. */
  readonly messages: readonly string[];
  /** Names of the delays of its machines. */
  readonly limits: readonly string[];
}
