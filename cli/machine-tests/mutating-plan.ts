/** Plan for the processes of the team's own tests: which machine is theirs, and which mutant goes in its place. */

/** Variable that has the path of the plan. */
export const PLAN = 'ESCAPEMENT_MUTANT_PLAN';

export interface Plan {
  /** Id of the machine. */
  readonly id: string;
  readonly fingerprint: string;
  /** Null: it stays as it is. */
  readonly mutant: string | null;
}
