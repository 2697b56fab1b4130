/**
 * Context of a run: its rules, its items as far as they were begun, and its counts.
 *
 * An item has a row from its first attempt on; of what was never begun only the number is known. So a run
 * remembers what has happened, and its record grows with that alone.
 */

import { Table, type Timed } from '../../../runtime/machine.ts';
import type { Role } from '../addresses.ts';
import type { AgentRules, LimitBasis } from '../map-agent/context.ts';
import type {
  AgentOutcome,
  ErrorType,
  FailureAction,
  FailureEntry,
  ItemOutcome,
  ItemReason,
  TimeoutAction,
} from '../words.ts';

export interface RetryRules {
  readonly maxAttempts: number;
  readonly retryOn: ReadonlyArray<'timeout' | 'command_failed'>;
  readonly backoff: 'immediate' | 'fixed' | 'exponential';
  readonly initialDelayMs: number;
  readonly maxDelayMs: number;
}

/** A limit on failures: a number of them, or a share of the items. */
export interface HaltRules {
  /** `soon` lets what runs come to its end, `now` stops it. */
  readonly when: 'now' | 'soon';
  readonly failures: number;
  readonly isPercent: boolean;
}

/** The limit of an agent as a share of the median of the run's successes. */
export interface MedianLimitRules {
  readonly percent: number;
  /** Successes from which on it holds. */
  readonly successesMin: number;
  readonly leastMs: number;
}

export interface RunRules {
  readonly workflow: string;
  readonly itemCount: number;
  readonly maxParallel: number;
  readonly map: AgentRules;
  /** Null where the limit of agents stays as it is. */
  readonly medianLimit: MedianLimitRules | null;
  readonly setup: AgentRules | null;
  readonly reduce: AgentRules | null;
  readonly retry: RetryRules;
  readonly timeoutAction: TimeoutAction;
  readonly onItemFailure: FailureAction;
  readonly alertPercent: number | null;
  readonly quotaResumeAfterMs: number;
  /** Most that each counter may come to over all items. */
  readonly budget: Readonly<Record<string, number>>;
  readonly halt: HaltRules | null;
  /** A run of items that failed before: what is done now is no failed item any more. */
  readonly resolvesFailedItems: boolean;
}

export interface RunInput {
  readonly runId: string;
  readonly rules: RunRules;
  /** Of no consequence to the run: kept for people and for programs. */
  readonly about: Readonly<Record<string, unknown>>;
}

export interface ItemRow {
  readonly state: 'running' | 'retryWait' | ItemOutcome;
  readonly reason: ItemReason | null;
  /** Attempts begun, which number them; and of these the ones that count. */
  readonly attempts: number;
  readonly counted: number;
  readonly failures: readonly FailureEntry[];
  readonly retryAt: number | null;
}

/** Steps before or after the map. The outcome is null until they are done or have failed. */
export interface SideSteps {
  readonly attempts: number;
  readonly outcome: 'done' | 'failed' | null;
}

export interface RunContext extends RunInput {
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** Index of the next item that was never begun. */
  readonly next: number;
  readonly items: Table<ItemRow>;
  /** Items that wait for their next attempt, in the order in which they are due. */
  readonly retries: Table<number>;
  /** Agents that have not ended, by id. */
  readonly agents: Table<{
    readonly role: Role;
    readonly itemIndex: number;
    readonly attempt: number;
  }>;
  readonly counts: Readonly<Record<ItemOutcome, number>>;
  readonly agentsStarted: number;
  readonly timeouts: number;
  /** Successes by the time they took, for their median; empty where nobody asks for it. */
  readonly durations: Table<number>;
  readonly setup: SideSteps;
  readonly reduce: SideSteps;
  /** Items whose end is being written to the failed items, by key. */
  readonly recording: Table<true>;
  readonly costs: Readonly<Record<string, number>>;
  /** Why the run fails or stops. */
  readonly reason: string | null;
}

export interface AgentEnded {
  readonly type: 'agent.ended';
  readonly role: Role;
  readonly itemIndex: number;
  readonly attempt: number;
  readonly outcome: AgentOutcome;
  readonly durationMs: number;
  readonly hasStarted: boolean;
  readonly enforcementFailure: string | null;
  readonly failure: FailureEntry | null;
}

export type RunEvent = Timed<
  | AgentEnded
  | { readonly type: 'cost.reported'; readonly name: string; readonly amount: number }
  /** From the program: the failed item of that index is on record, or is none any more. */
  | { readonly type: 'failure.kept'; readonly itemIndex: number }
  /** From the program: SIGINT, SIGTERM or an aborted signal; a second one skips the grace. */
  | { readonly type: 'run.interrupt' }
  | { readonly type: 'run.kill' }
  | { readonly type: 'run.resume' }
  | { readonly type: 'message.refused' }
  | { readonly type: 'leadership.acquired'; readonly fence: number; readonly node: string }
>;

export function initialRun(input: RunInput & { readonly at: number }): RunContext {
  const { runId, rules, about } = input;
  return {
    runId,
    rules: Object.freeze(rules),
    about: Object.freeze(about),
    startedAt: input.at,
    endedAt: null,
    next: 0,
    items: Table.of<ItemRow>(),
    retries: Table.of<number>(),
    agents: Table.of(),
    counts: { done: 0, dlq: 0, skipped: 0, failed: 0 },
    agentsStarted: 0,
    timeouts: 0,
    durations: Table.of<number>(),
    setup: { attempts: 0, outcome: null },
    reduce: { attempts: 0, outcome: null },
    recording: Table.of<true>(),
    costs: {},
    reason: null,
  };
}

/** Key of an item's row: rows come in the order of the items. */
export const itemKey = (index: number): string => String(index).padStart(10, '0');

/** Key of a retry: rows come in the order of their moments, then of the items. */
export const retryKey = (dueAt: number, index: number): string =>
  `${String(dueAt).padStart(16, '0')}-${itemKey(index)}`;

/** Times are told apart by three digits, so that any number of successes needs few rows. */
const DIGITS = 1_000;

/** Key of a time in the table of durations: rows come in the order of the times, none of which is made shorter. */
export function durationKey(ms: number): string {
  let unit = 1;
  while (ms / unit >= DIGITS) unit *= 10;
  return String(Math.ceil(ms / unit) * unit).padStart(10, '0');
}

/** The limit that the median of the successes stands for; nothing while they are too few. */
export function medianLimit({
  rules,
  durations,
  counts,
}: RunContext): { readonly limitMs: number; readonly basis: LimitBasis } | undefined {
  const { done: successes } = counts;
  if (rules.medianLimit === null || successes < rules.medianLimit.successesMin) return undefined;
  const { percent, leastMs } = rules.medianLimit;
  let left = Math.ceil(successes / 2);
  let medianMs = 0;
  for (const [key, count] of durations) {
    medianMs = Number(key);
    left -= count;
    if (left <= 0) break;
  }
  const limitMs = Math.max(leastMs, Math.ceil((medianMs * percent) / 100));
  return { limitMs, basis: { percent, medianMs, successes } };
}

export function nextRetryAt({ retries }: RunContext): number | null {
  const [first] = retries.keys();
  return first === undefined ? null : Number(first.slice(0, 16));
}

export function finalCount({ counts }: RunContext): number {
  return counts.done + counts.dlq + counts.skipped + counts.failed;
}

export const isFinal = ({ state }: ItemRow): boolean =>
  state !== 'running' && state !== 'retryWait';

/** Pause before the attempt after the n-th that counted. */
export function retryDelayMs(
  { backoff, initialDelayMs, maxDelayMs }: RetryRules,
  attempt: number,
): number {
  if (backoff === 'immediate') return 0;
  if (backoff === 'fixed') return initialDelayMs;
  return Math.min(maxDelayMs, initialDelayMs * 2 ** (attempt - 1));
}

const RETRIED: Readonly<Partial<Record<ErrorType, 'timeout' | 'command_failed'>>> = {
  Timeout: 'timeout',
  CommandFailed: 'command_failed',
};

export function mayRetry({ retry }: RunRules, errorType: ErrorType, counted: number): boolean {
  const cause = RETRIED[errorType];
  return cause !== undefined && retry.retryOn.includes(cause) && counted < retry.maxAttempts;
}

const REASONS: Readonly<Record<ErrorType, ItemReason>> = {
  Timeout: 'timeout',
  CommandFailed: 'commandFailed',
  WorktreeError: 'worktree',
  ValidationFailed: 'validation',
  Unknown: 'enforcer',
};

export const reasonOf = (errorType: ErrorType): ItemReason => REASONS[errorType];

/** End of an item after its last attempt has failed. */
export function outcomeAfter(rules: RunRules, { errorType }: FailureEntry): ItemOutcome {
  if (errorType === 'Unknown') return 'failed';
  const action = errorType === 'Timeout' ? rules.timeoutAction : rules.onItemFailure;
  if (action === 'skip') return 'skipped';
  return action === 'fail' ? 'failed' : 'dlq';
}

/** Name of a budget of the run that is overdrawn. */
export function overdrawn({ costs, rules }: RunContext): string | undefined {
  return Object.keys(rules.budget).find((name) => (costs[name] ?? 0) > (rules.budget[name] ?? 0));
}

/** True when as many items have failed as the run takes. */
export function hasHalted({ rules: { halt, itemCount }, counts }: RunContext): boolean {
  if (halt === null) return false;
  const failed = counts.dlq + counts.skipped + counts.failed;
  return (
    failed >= (halt.isPercent ? Math.max(1, (halt.failures / 100) * itemCount) : halt.failures)
  );
}
