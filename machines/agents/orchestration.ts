/**
 * Orchestration: every task of a plan to its end, a number of attempts at a time.
 *
 *   recovering.uncalled ──run.begun──▶ recovering.quieting ──nothing of before is left──▶ running
 *
 *   running ──context low──▶ compacting.collecting ──▶ compacting.hook ──▶ running
 *      │ session low, session.pause, over the budget
 *      ├──▶ pausing.collecting ──▶ pausing.stopping ──nobody left──▶ paused ──session.resumed──▶ running
 *      ├──a quota used up──▶ quota.stopping ──▶ quota.waiting ─after quotaReset─▶ quota.probing ──▶ running
 *      ├──run.drain──▶ finishing ──nobody left──▶ stopped
 *      ├──run.interrupt──▶ draining ──nobody left──▶ stopped ──run.begun──▶ recovering
 *      ├──only questions left, and it shall not wait──▶ blocking ──▶ blocked ──run.begun──▶ recovering
 *      └──every task final──▶ finished ■
 *
 * Attempts begin in `running` only, and one in `quota.probing` (orchestration/quota.ts). Experts get their places
 * in the order in which they were asked for. A collection of checkpoints ends when all have answered or its window
 * closes. Where the runtime begins again, what the one before has left is ended first, and nothing begins before
 * somebody asks for this run. A pause, a drain or a quota that comes in another state is kept for the next one that
 * can take it. Questions have no deadline; an answer is applied in whatever state it comes.
 */

import { bornOrchestration } from './orchestration/context.ts';
import { type Args, granting, leaving, noting, pauses } from './orchestration/edges.ts';
import { quota } from './orchestration/quota.ts';
import { orchestrationSetup } from './orchestration/setup.ts';

export type { OrchestrationContext, PlannedTask, RunRules } from './orchestration/context.ts';

const paused = noting('session_paused', ({ context }) => ({ cause: context.pauseCause }));

const finished = noting('run_finished', ({ context }) => {
  const states = [...context.tasks.values()].map(({ state }) => state);
  const hasFailed = states.some((state) => state === 'failed' || state === 'unreachable');
  return { status: hasFailed ? 'failed' : 'completed' };
});

const compactionFailed = (why: string) =>
  noting('compaction_failed', ({ event }) => ({
    level: 'warn',
    reason: event.type === 'compaction.finished' ? event.failure : why,
  }));

const compactionOf = ({ context: { runId, compaction } }: Args) => ({ runId, number: compaction });

const begun = {
  'run.begun': {
    target: '#orchestration.recovering.quieting',
    actions: ['takePlan', noting('run_begun')],
  },
} as const;

/** A second signal skips the grace. */
const killing = { 'run.kill': { actions: ['killAll', noting('grace_skipped')] } } as const;

export const orchestrationMachine = orchestrationSetup.createMachine({
  id: 'orchestration',
  context: ({ input }) => bornOrchestration(input),
  initial: 'recovering',
  on: {
    'run.begun': { actions: 'takePlan' },
    'task.settled': { actions: 'takeSettled' },
    'question.opened': { actions: 'openQuestion' },
    'question.answered': { actions: 'answerQuestion' },
    'question.withdrawn': { actions: 'withdrawQuestion' },
    'usage.reported': { actions: 'takeUsage' },
    'delegation.queued': { actions: 'queueDelegation' },
    'delegation.ended': { actions: 'endDelegation' },
    'checkpoint.collected': { actions: 'takeCollected' },
    // What the state that a run is in does not expect.
    'run.interrupt': {},
    'run.kill': {},
    'run.drain': { actions: 'keepDrain' },
    'session.pause': { actions: { type: 'keepPause', params: 'command' } },
    'session.resumed': {},
    'compaction.finished': {},
    'quota.exhausted': { actions: 'keepQuota' },
    'message.refused': {},
    'leadership.acquired': {},
  },
  states: {
    recovering: {
      initial: 'uncalled',
      entry: ['forgetUsage', { type: 'stopAll', params: 'runtimeRestart' }],
      on: { ...leaving, 'leadership.acquired': { target: 'recovering', reenter: true } },
      states: {
        uncalled: { on: begun },
        quieting: { always: { guard: 'isQuiet', target: '#orchestration.running' } },
      },
    },
    running: {
      tags: 'active',
      always: [
        { guard: 'isDone', target: 'finished' },
        { guard: 'isContextLow', target: 'compacting' },
        ...pauses,
        { guard: 'isQuotaUsedUp', target: 'quota' },
        { guard: 'isToDrain', target: 'finishing' },
        { guard: 'isBlocked', target: 'blocking' },
        { guard: 'canDispatch', actions: 'dispatch' },
        granting,
      ],
      on: leaving,
    },
    compacting: {
      tags: 'active',
      initial: 'collecting',
      entry: ['beginCompaction', noting('compaction_started')],
      on: leaving,
      states: {
        collecting: {
          entry: { type: 'collect', params: 'compaction' },
          exit: 'forgetCollecting',
          always: [{ guard: 'isCollected', target: 'hook' }, granting],
          after: { collectWindow: 'hook' },
        },
        hook: {
          initial: 'choosing',
          states: {
            choosing: {
              always: [
                {
                  guard: 'hasNoHook',
                  target: '#orchestration.running',
                  actions: noting('compaction_completed'),
                },
                { target: 'running' },
              ],
            },
            running: {
              entry: { type: 'compact', params: compactionOf },
              exit: { type: 'stopCompaction', params: compactionOf },
              always: granting,
              on: {
                'compaction.finished': [
                  {
                    guard: 'hasFailed',
                    target: '#orchestration.running',
                    actions: compactionFailed(''),
                  },
                  {
                    guard: 'isOwnCompaction',
                    target: '#orchestration.running',
                    actions: noting('compaction_completed'),
                  },
                ],
              },
              after: {
                compactionLimit: {
                  target: '#orchestration.running',
                  actions: compactionFailed('it took too long'),
                },
              },
            },
          },
        },
      },
    },
    pausing: {
      tags: 'active',
      initial: 'collecting',
      on: {
        'session.pause': {},
        'run.interrupt': '.stopping',
        'run.kill': { target: '.stopping', actions: ['killAll', noting('grace_skipped')] },
        'leadership.acquired': '.stopping',
      },
      states: {
        collecting: {
          entry: { type: 'collect', params: 'pause' },
          exit: 'forgetCollecting',
          always: [{ guard: 'isCollected', target: 'stopping' }, granting],
          after: { collectWindow: 'stopping' },
        },
        stopping: {
          entry: { type: 'stopAll', params: 'pause' },
          on: killing,
          always: [
            { guard: 'isDone', target: '#orchestration.finished' },
            { guard: 'isQuiet', target: '#orchestration.paused', actions: paused },
          ],
        },
      },
    },
    paused: {
      tags: 'resting',
      always: { guard: 'isToDrain', target: 'stopped', actions: 'forgetPause' },
      on: {
        'session.pause': {},
        'session.resumed': {
          target: 'running',
          actions: ['forgetPause', noting('session_resumed')],
        },
      },
    },
    quota,
    finishing: {
      tags: 'active',
      entry: noting('run_draining', () => ({ cause: 'command' })),
      always: [
        { guard: 'isDone', target: 'finished' },
        { guard: 'isQuiet', target: 'stopped' },
        ...pauses,
        // Nothing is dispatched here: attempts that wait for a human are all that can be left.
        { guard: 'isOnlyAsking', target: 'blocking' },
        granting,
      ],
      on: leaving,
    },
    draining: {
      tags: 'active',
      entry: [
        { type: 'stopAll', params: 'shutdown' },
        noting('run_draining', () => ({ cause: 'signal' })),
      ],
      always: [
        { guard: 'isDone', target: 'finished' },
        { guard: 'isQuiet', target: 'stopped' },
      ],
      on: { ...killing, 'leadership.acquired': 'recovering' },
    },
    blocking: {
      tags: 'active',
      entry: { type: 'stopAll', params: 'shutdown' },
      always: { guard: 'isQuiet', target: 'blocked' },
      on: { ...killing, 'leadership.acquired': 'recovering' },
    },
    blocked: { tags: 'resting', entry: noting('run_blocked'), on: begun },
    stopped: { tags: 'resting', entry: noting('run_stopped'), on: begun },
    finished: { type: 'final', entry: ['keepEnd', finished] },
  },
});
