/**
 * A kind of the nemesis menu: something that may be done to a cluster, as data and as a deed.
 *
 * Drawing makes the data, before the run and from chance alone; beginning does it, at its moment, to
 * the cluster as it is then. What cannot be done then is left out. A kind that needs more of a cluster
 * than every cluster has names the scene in which it plays.
 */

import type { Chance } from '../world.ts';
import type { Nemesis } from './nemesis.ts';
import type { Scene, Strike } from './strike.ts';

export interface NemesisKind<TScene extends Scene = Scene> {
  /** Names it in plans and on the command line. */
  readonly kind: string;
  /** One sentence for people. */
  readonly says: string;
  /** Whether it can do anything to such a cluster. Default: yes. */
  readonly fits?: (shape: TScene['shape']) => boolean;
  readonly draw: (chance: Chance, shape: TScene['shape']) => DrawnNemesis;
  /** Waits for a moment of the run to strike in: were it short, that would hardly ever come. */
  readonly awaitsMoment?: boolean;
  /** Waits for deadlines that actors have, whatever they are called. */
  readonly awaitsDeadlines?: boolean;
  /** The faults of a drawn run go on until it is over. Default: it ends when they do. */
  readonly isPatient?: boolean;
  /** Drawn for itself and not among all others. */
  readonly isDrawnApart?: boolean;
  /** How far it can put the wall clock of a node off. Default: not at all. */
  readonly epsilonMs?: (nemesis: Nemesis) => number;
  /** In a task of the clock. Whatever it does ends with the strike. */
  readonly begin: (strike: Strike<TScene>) => void;
}

/** What a nemesis is beside its moment; its length is drawn where the run is known, unless the kind has one. */
export type DrawnNemesis = Pick<Nemesis, 'targets' | 'params'> & Partial<Pick<Nemesis, 'durMs'>>;

/** @throws {Error} when there is none of that name. */
export function kindOfNemesis<TScene extends Scene>(
  menu: readonly NemesisKind<TScene>[],
  kind: string,
): NemesisKind<TScene> {
  const found = menu.find((one) => one.kind === kind);
  if (found !== undefined) return found;
  const known = menu.map((one) => one.kind).join(', ');
  throw new Error(`There is no nemesis "${kind}". There are: ${known}.`);
}
