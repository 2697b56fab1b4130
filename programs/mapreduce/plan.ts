/**
 * Plan of a run: all that its commands need and that does not change while it lives. It is made from what is
 * stored, so that a runner that begins again has the same.
 */

import type { RunInput } from '../../machines/mapreduce/run.ts';
import { ItemFile } from './items.ts';
import type { RunFolder } from './run-folder.ts';
import { parseWorkflow, type Step, type Workflow } from './workflow.ts';

/** Stored with the run, for programs and people; the machine does not look at it. */
export interface About {
  /** The file it came from, and its hash; null of a workflow that was an object. */
  readonly workflowFile: string | null;
  readonly workflowHash: string;
  readonly itemsHash: string;
  /** Where commands run, unless they have a worktree. */
  readonly directory: string;
  readonly claude: readonly string[];
  readonly statedAgentMs: number | null;
  readonly commandLimitsMs: readonly number[];
  /** Limits that were learnt from earlier runs, in words. */
  readonly learnt: readonly string[];
  readonly monitoring: boolean;
  readonly warnings: readonly string[];
  /** Repository and commit of worktrees. */
  readonly git: { readonly root: string; readonly head: string } | null;
}

export interface Plan {
  readonly runId: string;
  readonly about: About;
  readonly rules: RunInput['rules'];
  readonly workflow: Workflow;
  readonly folder: RunFolder;
  readonly items: ItemFile;
  readonly quotaMatches: readonly RegExp[];
}

export function planOf(input: RunInput, folder: RunFolder): Plan {
  const workflow = parseWorkflow(folder.readWorkflow(), 'workflow.yml');
  return {
    runId: input.runId,
    about: input.about as unknown as About,
    rules: input.rules,
    workflow,
    folder,
    items: new ItemFile(folder.itemsPath),
    quotaMatches: (workflow.map.quota?.outputMatches ?? []).map((text) => new RegExp(text)),
  };
}

export function stepsOf({ workflow }: Plan, role: 'map' | 'setup' | 'reduce'): readonly Step[] {
  return role === 'map' ? workflow.map.template : (workflow[role] ?? []);
}

export const rulesOf = ({ rules }: Plan, role: 'map' | 'setup' | 'reduce') =>
  role === 'map' ? rules.map : rules[role];
