/**
 * Continuation of a run, or a run of what an earlier one has left: what failed, or what of its file was changed since.
 */

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { failedInput } from '../../programs/mapreduce/failed-items.ts';
import { type Host, unknownRun } from '../../programs/mapreduce/host.ts';
import { changedInput } from '../../programs/mapreduce/item-hashes.ts';
import { hasItems } from '../../programs/mapreduce/items.ts';
import type { About, Plan } from '../../programs/mapreduce/plan.ts';
import {
  hashOf,
  inputOf,
  prepare,
  prepareStored,
  resumeRun,
  startRun,
} from '../../programs/mapreduce/run.ts';
import { CommandFailure, EXIT } from '../exit.ts';

export interface ResumeFlags {
  readonly useStored?: boolean;
  readonly retryFailed?: boolean;
  readonly onlyChanged?: boolean;
}

/** Gives the id of the run that begins or goes on. @throws {CommandFailure} */
export async function beginResumed(host: Host, runId: string, flags: ResumeFlags): Promise<string> {
  if (flags.onlyChanged === true) return runChanged(host, runId);
  const run = host.stored.run(runId);
  if (run?.state === 'completed' && flags.retryFailed !== true) return runId;
  if (run !== undefined && flags.useStored !== true)
    refuseChanged(run.context.about as unknown as About, host.plan(runId));
  if (flags.retryFailed === true) return retryFailed(host, runId);
  await resumeRun(host, runId);
  return runId;
}

/** A run of its own, of the items of another one that came to no good end. */
function retryFailed(host: Host, runId: string): Promise<string> {
  const given = { resolvesFailedItems: true };
  return startRun(host, prepareStored(host, runId, {}), failedInput(host, runId), given);
}

/** A run of its own, of the workflow file as it is now and those of its items that are not done. */
async function runChanged(host: Host, runId: string): Promise<string> {
  const run = host.stored.run(runId);
  if (run === undefined) throw unknownRun(runId);
  const { workflowFile, claude, statedAgentMs } = run.context.about as unknown as About;
  const hasOwnClaude = !isDeepStrictEqual(claude, host.plan(runId).workflow.claude);
  if (workflowFile === null)
    throw new CommandFailure(EXIT.configuration, `Run ${runId} came from no file.`);
  const prepared = prepare(
    workflowFile,
    statedAgentMs === null ? {} : { agentTimeoutMs: statedAgentMs },
  );
  const input = changedInput(host, runId, prepared, inputOf(prepared));
  if (input.count === 0)
    throw new CommandFailure(EXIT.broken, `No item is new or changed since run ${runId}.`);
  const given = { resolvesFailedItems: true, ...(hasOwnClaude && { claude }) };
  return startRun(host, prepared, input, given);
}

const CHANGED =
  'Add --use-stored to go on with what it was, or --only-changed to run what is new or changed.';

function refuseChanged({ workflowFile, workflowHash, itemsHash }: About, plan: Plan): void {
  if (workflowFile === null) return;
  let text: string | undefined;
  try {
    text = readFileSync(workflowFile, 'utf8');
  } catch {
    // A file that is gone was not changed into another one: the run has its own copy.
  }
  if (text === undefined) return;
  if (hashOf(text) === workflowHash) {
    const { directory } = plan.about;
    if (
      hasItems(resolve(directory, plan.workflow.map.input), plan.workflow.map.jsonPath, itemsHash)
    )
      return;
    const input = `${plan.workflow.map.input} was changed since the run began. ${CHANGED}`;
    throw new CommandFailure(EXIT.configuration, input);
  }
  const what = `${workflowFile} was changed since the run began. ${CHANGED}`;
  throw new CommandFailure(EXIT.configuration, what);
}
