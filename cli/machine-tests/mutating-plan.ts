/** Plan for the processes of the team's own tests: which machine is theirs, and which mutant goes in its place. */

/** Variable that has the path of the plan. */
export const PLAN = 'ESCAPEMENT_MUTANT_PLAN';

/** Variable that has the process group of a run, where there are such. */
export const GROUP = 'ESCAPEMENT_MUTANT_GROUP';

export interface Plan {
  /** Process that has begun the run: where it is gone, the run ends. */
  readonly owner: number;
  /** Id of the machine. */
  readonly id: string;
  readonly fingerprint: string;
  /** Null: it stays as it is. */
  readonly mutant: string | null;
}
