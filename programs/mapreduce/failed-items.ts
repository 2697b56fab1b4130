/**
 * Failed items as they are shown, and what can be done about them: another try, or dropping them.
 */

import { createHash } from 'node:crypto';
import type { FailedItemContext } from '../../machines/mapreduce/failed-item.ts';
import type { StoredActor } from '../runs.ts';
import {
  attemptDocument,
  type CommandDocument,
  type TimeoutDocument,
  timeoutDocument,
} from './documents.ts';
import type { Host } from './host.ts';
import { type Input, ItemFile } from './items.ts';
import type { RunFolder } from './run-folder.ts';
import type { StoredRuns } from './stored-runs.ts';

export interface FailedItemDocument {
  readonly item_id: string;
  readonly item_data: unknown;
  readonly workflow: string;
  readonly run_id: string;
  readonly first_attempt: number;
  readonly last_attempt: number;
  readonly failure_count: number;
  readonly failure_history: ReadonlyArray<{
    readonly attempt_number: number;
    readonly timestamp: number;
    readonly error_type: string;
    readonly error_message: string;
    readonly agent_id: string;
    readonly step_failed: number | null;
    readonly duration_ms: number;
    readonly exit_code: number | null;
  }>;
  readonly error_signature: string;
  readonly worktree_artifacts: {
    readonly branch: string | null;
    readonly patch: string | null;
  } | null;
  readonly reprocess_eligible: boolean;
  readonly manual_review_required: boolean;
  readonly timeout: TimeoutDocument | null;
  readonly partial_results: readonly CommandDocument[];
}

export function failedItemDocument(
  { context }: StoredActor<FailedItemContext>,
  stored: StoredRuns,
  folder: RunFolder,
): FailedItemDocument {
  const { workflow, itemId, runId, itemIndex, agentId, history, timeout } = context;
  const last = history.at(-1);
  const agent = stored.agent(runId ?? '', agentId ?? '');
  const attempt = agent && attemptDocument(agent, folder);
  const isInvalid = last?.errorType === 'ValidationFailed';
  const ending = last?.timeoutKind ?? last?.exitCode ?? '';
  const signature = `${last?.errorType}|${last?.stepFailed}|${ending}`;
  return {
    item_id: itemId,
    item_data: itemData(folder, itemIndex),
    workflow,
    run_id: runId ?? '',
    first_attempt: history[0]?.timestamp ?? 0,
    last_attempt: last?.timestamp ?? 0,
    failure_count: history.length,
    failure_history: history.map((entry) => ({
      attempt_number: entry.attemptNumber,
      timestamp: entry.timestamp,
      error_type: entry.errorType,
      error_message: entry.errorMessage,
      agent_id: entry.agentId,
      step_failed: entry.stepFailed,
      duration_ms: entry.durationMs,
      exit_code: entry.exitCode,
    })),
    error_signature: createHash('sha256').update(signature).digest('hex').slice(0, 16),
    worktree_artifacts: attempt?.worktree ?? null,
    reprocess_eligible: !isInvalid,
    manual_review_required: isInvalid,
    timeout: timeout && timeoutDocument(timeout),
    partial_results: attempt?.commands ?? [],
  };
}

function itemData(folder: RunFolder, index: number): unknown {
  const file = new ItemFile(folder.itemsPath);
  try {
    return file.at(index).value;
  } finally {
    file.close();
  }
}

/** Records above which somebody should look at them: none is ever dropped by itself. */
const FAILED_ITEMS_MAX = 1_000;

export function failedItemsWarning({ failedItemCount: count }: StoredRuns): string | undefined {
  if (count <= FAILED_ITEMS_MAX) return undefined;
  return `${count} failed items are on record, more than ${FAILED_ITEMS_MAX}: try them again or drop them`;
}

export interface Selection {
  readonly itemIds: readonly string[];
  readonly all: boolean;
  readonly workflow?: string | undefined;
}

/** All failed items that a selection names. */
export function* selectedItems(
  stored: StoredRuns,
  { itemIds, all, workflow }: Selection,
): Iterable<StoredActor<FailedItemContext>> {
  for (const item of stored.failedItems()) {
    if (workflow !== undefined && item.context.workflow !== workflow) continue;
    if (all || itemIds.includes(item.context.itemId)) yield item;
  }
}

const FAILED: ReadonlySet<string> = new Set(['dlq', 'failed', 'skipped']);

/** The items of a run that came to no good end, in its order. */
export function failedInput(host: Host, runId: string): Input {
  const rows = [...host.stored.items(runId)].filter(([, { state }]) => FAILED.has(state));
  const indexes = rows.map(([index]) => index).sort((a, b) => a - b);
  const file = new ItemFile(host.folder(runId).itemsPath);
  const items = indexes.map((index) => file.at(index));
  file.close();
  return { count: items.length, items: () => items };
}

/** False for what is not tried again unless somebody insists. */
export function isRetried(item: FailedItemDocument, retriesMax: number): boolean {
  return item.reprocess_eligible && item.failure_count <= retriesMax;
}
