/**
 * Words of a plan file: its keys with their ranges and defaults, which the documents repeat.
 */

import type { OptionTable } from '../../../runtime/base/option.ts';

/** A range of a number, both ends included. */
export const between = (min: number, max: number) => ({ min, max }) as const;

const SIXTY_DAYS_MS = 60 * 86_400_000;
const COUNT_MAX = 1_000_000;

const limit = (usual: number) =>
  ({ kind: 'whole', default: usual, min: 1, max: SIXTY_DAYS_MS }) as const;
const count = (usual: number, min = 1) =>
  ({ kind: 'whole', default: usual, min, max: COUNT_MAX }) as const;
const percent = (usual: number) => ({ kind: 'whole', default: usual, ...between(0, 100) }) as const;

/** Keys of `timeouts`; those with a unit are milliseconds. */
export const TIMEOUTS = {
  AGENT_TIMEOUT: limit(900_000),
  CHECKPOINT_INTERVAL: limit(300_000),
  CHECKPOINT_TIMEOUT: limit(30_000),
  DELEGATION_TIMEOUT: limit(600_000),
  STALL_THRESHOLD: count(3),
  TIMEOUT_ESCALATION: count(3),
  CONTEXT_THRESHOLD: percent(10),
  SESSION_THRESHOLD: percent(10),
  IDLE_TIMEOUT: { kind: 'nullable', default: null, min: 1, max: SIXTY_DAYS_MS },
} as const satisfies OptionTable;

export const OPTIONS = {
  terminationGraceMs: { kind: 'whole', default: 5_000, min: 0, max: SIXTY_DAYS_MS },
  retryOnMiss: { kind: 'flag', default: false },
  stallsCountTowardEscalation: { kind: 'flag', default: true },
  blockAllOnQuestion: { kind: 'flag', default: false },
  maxFailures: count(3),
  maxDelegationsPerAttempt: count(3, 0),
  maxLineBytes: { kind: 'whole', default: 1_048_576, ...between(1, 67_108_864) },
  maxOutputBytes: { kind: 'whole', default: 67_108_864, ...between(1, 1_073_741_824) },
  maxMalformedLines: count(20, 0),
  compactionTimeoutMs: limit(60_000),
  quotaResetMs: limit(3_600_000),
  quotaPauseMinMs: limit(1_000),
} as const satisfies OptionTable;

export type Timeouts = { readonly [name in keyof typeof TIMEOUTS]: number } & {
  readonly IDLE_TIMEOUT: number | null;
};

type ValueOf<TOption> = TOption extends { readonly kind: 'flag' } ? boolean : number;
export type Options = { readonly [name in keyof typeof OPTIONS]: ValueOf<(typeof OPTIONS)[name]> };

export const ID_PATTERN = /^[A-Za-z0-9._-]{1,64}$/;
export const ID_WORDS = '1 to 64 letters, digits or "._-"';
export const TASKS_MAX = 1_000;
export const PRIORITY = between(-1_000_000, 1_000_000);
