/**
 * Health of one worker, as its datacenter sees it: AD-26's deadline and extensions.
 *
 * unregistered ──registration.told──▶ trusted (parallel)
 *   hearing    takes what is said, and decides nothing
 *   standing   ┌ a request is answered again, dropped as outdated, denied for the first reason that holds, or granted:
 *              │         grant, some left          grant, none left
 *              │ healthy ────────────────▶ extended ────────────────▶ exhausted
 *              │    ▲  ◀──operation ended──┘   ▲ grant for another operation │
 *              │    │  ◀──────────────operation ended────────────────────────┘
 *   credit     settled ◀── every job concerned has it on disk ── awaitingCredits ◀── granted
 *   contact    heard ──after deadlineLimit──▶ suspect ──after evictionLimit──▶ evicted.silent
 *
 * suspect ──heartbeat, registration──▶ trusted · trusted ──too many denials──▶ evicted.denials
 * evicted ──registration.told──▶ trusted · evicted ──after retention──▶ forgotten ■
 *
 * The worker pushes heartbeats; this machine only judges silence. Only what the worker says itself puts
 * its deadline off; what its manager gives up alone never does. A grant is answered when every job
 * concerned has the credit on disk. Losing the worker is one turn: every actor concerned is told,
 * and acts by itself.
 */

import type { WorkerState } from './words.ts';
import { initialWorkerHealth } from './worker-health/context.ts';
import { type Standing, workerHealthSetup } from './worker-health/setup.ts';

export type {
  WorkerHealthContext,
  WorkerHealthEvent,
  WorkerHealthInput,
} from './worker-health/context.ts';

/** Its deadline may have moved: it is armed again. */
const moved = { target: 'heard', reenter: true } as const;
const stands = (standing: Standing) =>
  ({ guard: { type: 'stands', params: { standing } }, target: standing }) as const;

/** A request that came before: the same answer, or the pending one, which waits for its credit, or none any more. */
const repeated = [
  { guard: 'isAnswered', actions: 'answerAgain' },
  { guard: 'isAwaited', actions: 'keepAsker' },
  { guard: 'isOutdated', actions: 'dropOutdated' },
] as const;
const malformed = {
  guard: 'isMalformed',
  actions: { type: 'deny', params: { reason: 'malformed' } },
} as const;
const tooLate = { actions: { type: 'deny', params: { reason: 'suspect' } } } as const;

/** Outcomes of a request of a worker that is trusted; the first line that holds counts. */
const decided = [
  ...repeated,
  malformed,
  { guard: 'isOverdue', ...tooLate },
  {
    guard: 'isUnknownOperation',
    actions: { type: 'deny', params: { reason: 'unknownOperation' } },
  },
  {
    guard: 'isUsedUp',
    actions: [{ type: 'deny', params: { reason: 'maxReached' } }, 'countDenial'],
  },
  {
    guard: 'lacksProgress',
    actions: [{ type: 'deny', params: { reason: 'noProgress' } }, 'countDenial'],
  },
] as const;

const oneGrant = { target: 'extended', actions: 'grant' } as const;
const lastGrant = { guard: 'isLastGrant', target: 'exhausted', actions: 'grant' } as const;

/** Nobody waits for an answer, or somebody does until every job concerned has the credit on disk. */
const credit = {
  initial: 'settled',
  states: {
    settled: { always: { guard: 'awaitsCredits', target: 'awaitingCredits' } },
    awaitingCredits: { always: { guard: 'isSettled', target: 'settled' } },
  },
} as const;

const tellPool = (state: WorkerState) => ({ type: 'tellPool', params: { state } }) as const;

export const workerHealthMachine = workerHealthSetup.createMachine({
  id: 'workerHealth',
  context: ({ input }) => initialWorkerHealth(input),
  initial: 'unregistered',
  on: {
    'registration.told': { target: '.trusted', actions: 'takeRegistration' },
    'heartbeat.received': { actions: 'askToRegister' },
    'extension.requested': [...repeated, malformed, tooLate],
    'attempt.placed': { actions: { type: 'takeAttempt', params: { isLost: true } } },
    'credit.answered': { actions: 'settleCredit' },
    'credit.closed': { actions: 'forgetJob' },
    'message.refused': { actions: 'takeRefusal' },
  },
  states: {
    unregistered: {},
    trusted: {
      type: 'parallel',
      always: { guard: 'hasTooManyDenials', target: 'evicted.denials' },
      states: {
        /** The first region: it takes an event before any decision is made or deadline armed. */
        hearing: {
          on: {
            'registration.told': { actions: ['takeRegistration', 'tellStanding'] },
            'heartbeat.received': { guard: 'isThisLife', actions: 'takeHeartbeat' },
            'announce.answered': { guard: 'isThisLife', actions: 'takeAnswer' },
            'attempt.placed': { actions: { type: 'takeAttempt', params: { isLost: false } } },
            'attempt.running': { guard: 'isThisRegistration', actions: 'beginAttempt' },
            'attempt.ended': { guard: 'isThisRegistration', actions: 'endAttempt' },
            'leadership.acquired': { actions: 'takeOver' },
          },
        },
        standing: {
          initial: 'healthy',
          states: {
            healthy: {
              entry: tellPool('healthy'),
              on: { 'extension.requested': [...decided, lastGrant, oneGrant] },
              always: [stands('extended'), stands('exhausted')],
            },
            extended: {
              entry: tellPool('extended'),
              on: { 'extension.requested': [...decided, lastGrant, { actions: 'grant' }] },
              always: [stands('healthy'), stands('exhausted')],
            },
            exhausted: {
              entry: tellPool('exhausted'),
              on: {
                'extension.requested': [
                  ...decided,
                  { guard: 'isLastGrant', actions: 'grant' },
                  oneGrant,
                ],
              },
              always: [stands('healthy'), stands('extended')],
            },
          },
        },
        credit,
        contact: {
          initial: 'heard',
          states: {
            heard: {
              on: {
                'registration.told': moved,
                'heartbeat.received': { guard: 'isThisLife', ...moved },
                'extension.requested': moved,
                'attempt.ended': moved,
                'leadership.acquired': moved,
              },
              after: { deadlineLimit: '#workerHealth.suspect' },
            },
          },
        },
      },
    },
    suspect: {
      ...credit,
      entry: ['noteSuspect', tellPool('suspect')],
      on: {
        'registration.told': {
          guard: 'isThisRegistration',
          target: 'trusted',
          actions: ['recover', 'takeRegistration'],
        },
        'heartbeat.received': {
          guard: 'isThisLife',
          target: 'trusted',
          actions: ['recover', 'takeHeartbeat'],
        },
        // It was chosen before it fell silent; it keeps what it has until it is evicted.
        'attempt.placed': { actions: { type: 'takeAttempt', params: { isLost: false } } },
        'attempt.running': { guard: 'isThisRegistration', actions: 'beginAttempt' },
        'attempt.ended': { guard: 'isThisRegistration', actions: 'endAttempt' },
        'leadership.acquired': { target: 'trusted', actions: 'takeOver' },
      },
      after: { evictionLimit: 'evicted.silent' },
    },
    evicted: {
      initial: 'silent',
      on: { 'leadership.acquired': { actions: 'learnTerm' } },
      after: { retention: 'forgotten' },
      states: {
        silent: { entry: { type: 'evict', params: { reason: 'silent' } } },
        denials: { entry: { type: 'evict', params: { reason: 'denials' } } },
      },
    },
    forgotten: { type: 'final' },
  },
});
