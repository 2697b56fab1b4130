/**
 * A reduction: one way of making a plan simpler, as candidates to be tried one after the other.
 *
 * Guarantees: every candidate is simpler than the plan in a way that comes to an end, so that taking
 * candidates until none is left always ends. Whether it still fails nobody here knows.
 */

import type { Violation } from '../../invariants.ts';
import type { Plan } from '../plan.ts';

export interface Candidate {
  readonly plan: Plan;
  /** In words, after "the same": `without n3 (isolateLeader)`. */
  readonly change: string;
}

export interface Reduction {
  /** How much what it takes away says about the failure: a plan that passes without one fault says most. */
  readonly rank: number;
  /** The boldest first. */
  readonly candidates: (plan: Plan, violation: Violation) => Iterable<Candidate>;
}
