/**
 * Check that a kept plan is one of this simulation: of its shape, its places and its workload.
 *
 * A plan whose steps or nodes have other names by now would be played without them, and hold.
 */

import { z } from 'zod';
import { type SchemaIssue, schemaIssues, whatOf } from '../../reading/schema.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { allNodes, allPlaces, type ClusterShape, nemesisSchema, rangeMs } from '../faults.ts';
import { CLIENT } from './cluster.ts';
import type { SimulationPlan } from './plan.ts';

const planSchema = z.strictObject({
  seed: z.int().min(1),
  untilMs: z.number().positive(),
  healAtMs: z.number().min(0).nullable(),
  delayMs: rangeMs,
  steps: z.array(z.string()),
  nemeses: z.array(nemesisSchema),
  commitMs: rangeMs.optional(),
});

export interface Known {
  readonly shape: ClusterShape;
  /** Kinds of faults. */
  readonly kinds: readonly string[];
  /** Steps of the workload, for the seed of the plan. */
  readonly stepsOf: (seed: number) => readonly string[];
}

/** @throws {RuntimeError} OPTION_INVALID */
export function checkPlan(plan: SimulationPlan, { shape, kinds, stepsOf }: Known): void {
  const checked = planSchema.safeParse(plan);
  if (!checked.success) {
    const [issue] = schemaIssues(planSchema, checked.error) as [SchemaIssue];
    throw invalid(`"plan" is none: ${issue.path.join('.') || 'it'}: ${whatOf(issue)}`);
  }
  const steps = stepsOf(plan.seed);
  const step = plan.steps.find((id) => !steps.includes(id));
  if (step !== undefined)
    throw invalid(
      `"plan" has the step "${step}", which the workload does not have with seed ${plan.seed}. It has: ${steps.join(', ')}.`,
    );
  const nodes = [CLIENT, ...allPlaces(shape), ...allNodes(shape)];
  for (const { id, kind, targets } of plan.nemeses) {
    if (!kinds.includes(kind))
      throw invalid(`"plan" has the fault ${id} of the kind "${kind}", and there is none.`);
    const stranger = targets.find((name) => !nodes.includes(name));
    if (stranger !== undefined)
      throw invalid(`"plan" has the fault ${id} on "${stranger}", which is no node and no place.`);
  }
}

function invalid(what: string): RuntimeError {
  return new RuntimeError('OPTION_INVALID', what);
}
