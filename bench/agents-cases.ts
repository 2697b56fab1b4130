/**
 * Runs of agents at the base figures of their scenarios, and the moments at which things have to happen in them.
 */

import type { EventRecord } from '../programs/agents/index.ts';
import type { Does } from './agents-stand-in.ts';

export interface Case {
  /** Number of the scenario. */
  readonly scenario: number;
  readonly agents: readonly Does[];
  readonly expert?: Does;
  readonly timeouts?: object;
  readonly options?: object;
  /** Moments after the start of each attempt, by event, that the runtime decides alone. */
  readonly moments: Moments;
  /** The same of what follows from something that an agent does by its own clock. */
  readonly said?: Moments;
  /** Outcomes of all attempts, in their order. */
  readonly outcomes: readonly string[];
}

export type Moments = Readonly<Partial<Record<EventRecord['event'], readonly number[]>>>;

export const BASE = {
  AGENT_TIMEOUT: 1_500,
  CHECKPOINT_INTERVAL: 500,
  CHECKPOINT_TIMEOUT: 100,
  DELEGATION_TIMEOUT: 1_000,
};
export const GRACE_MS = 300;

const mute: Does = {};
const once = { TIMEOUT_ESCALATION: 1 };
const long = { AGENT_TIMEOUT: 5_000 };

export const CASES: readonly Case[] = [
  {
    scenario: 1,
    agents: [{ doneAt: 200, answers: true }],
    moments: {},
    said: { agent_ended: [200] },
    outcomes: ['done'],
  },
  {
    scenario: 2,
    agents: [mute],
    timeouts: once,
    moments: {
      checkpoint_requested: [500, 1_000],
      checkpoint_timeout: [600, 1_100],
      agent_timeout: [1_500],
    },
    outcomes: ['timedOut'],
  },
  {
    scenario: 3,
    agents: [mute],
    moments: { checkpoint_timeout: [600, 1_100], agent_timeout: [1_500] },
    outcomes: ['timedOut', 'timedOut', 'timedOut'],
  },
  {
    scenario: 4,
    agents: [mute],
    timeouts: { ...once, ...long },
    moments: { checkpoint_timeout: [600, 1_100, 1_600], agent_stalled: [1_600] },
    outcomes: ['stalled'],
  },
  {
    scenario: 5,
    agents: [{ doneAt: 2_300, answers: [2] }],
    timeouts: long,
    moments: { checkpoint_timeout: [600, 1_600, 2_100] },
    said: { agent_ended: [2_300] },
    outcomes: ['done'],
  },
  {
    scenario: 6,
    agents: [{ doneAt: 1_300, answers: true, answersIn: 150 }],
    moments: { checkpoint_timeout: [600, 1_100] },
    said: { checkpoint_late: [650, 1_150], agent_ended: [1_300] },
    outcomes: ['done'],
  },
  {
    scenario: 7,
    agents: [{ isDeaf: true }],
    timeouts: once,
    moments: { agent_timeout: [1_500], agent_ended: [1_800] },
    outcomes: ['timedOut'],
  },
  {
    scenario: 8,
    agents: [{ isLate: true }],
    timeouts: once,
    moments: { agent_timeout: [1_500] },
    said: { late_result_discarded: [1_600] },
    outcomes: ['timedOut'],
  },
  {
    scenario: 9,
    agents: [{ delegateAt: 200, then: 1_200, answers: true }],
    expert: { doneAt: 800 },
    moments: {},
    said: { delegation_answered: [1_000], agent_ended: [2_200] },
    outcomes: ['done'],
  },
  {
    scenario: 10,
    agents: [{ delegateAt: 200, then: 0, answers: true }],
    expert: mute,
    moments: {},
    said: { delegation_unsuccessful: [1_200] },
    outcomes: ['done'],
  },
  {
    scenario: 23,
    agents: [{ answers: true, usageAt: 200, doneAt: 700 }, mute],
    timeouts: { ...once, CHECKPOINT_INTERVAL: 5_000 },
    moments: {},
    said: { compaction_started: [200], compaction_completed: [300] },
    outcomes: ['done', 'timedOut'],
  },
  {
    scenario: 28,
    agents: [mute],
    timeouts: { ...once, ...long },
    options: { retryOnMiss: true },
    moments: { checkpoint_timeout: [600, 700, 800], agent_stalled: [800] },
    outcomes: ['stalled'],
  },
];
