/**
 * Orchestration: every task of a plan to its end, a number of attempts at a time.
 *
 *   recovering.uncalled ──run.begun──▶ recovering.quieting ──nothing of before is left──▶ running
 *
 *   running ──context low──▶ compacting.collecting ──▶ compacting.hook ──▶ running
 *      │ session low, session.pause, over the budget
 *      ├──▶ pausing.collecting ──▶ pausing.stopping ──nobody left──▶ paused ──session.resumed──▶ running
 *      ├──quota.exhausted──▶ quota.stopping ──▶ quota.waiting ─after quotaReset─▶ quota.probing ──▶ running
 *      ├──run.drain──▶ finishing ──nobody left──▶ stopped
 *      ├──run.interrupt──▶ draining ──nobody left──▶ stopped ──run.begun──▶ recovering
 *      ├──only questions left, and it shall not wait──▶ blocking ──▶ blocked ──run.begun──▶ recovering
 *      └──every task final──▶ finished ■
 *
 * Attempts begin in `running` only, and one in `quota.probing`. Experts get their places in the order in which
 * they were asked for. A collection of checkpoints ends when all have answered or its window closes. Where the
 * runtime begins again, what the one before has left is ended first, and nothing begins before somebody asks for
 * this run. Questions have no deadline; an answer is applied in whatever state it comes.
 */

import type { NoteParams } from './notes.ts';
import {
  bornOrchestration,
  type OrchestrationContext,
  type OrchestrationEvent,
} from './orchestration/context.ts';
import { orchestrationSetup } from './orchestration/setup.ts';

export type { OrchestrationContext, PlannedTask, RunRules } from './orchestration/context.ts';

type Args = { readonly context: OrchestrationContext; readonly event: OrchestrationEvent };

const noting = (event: NoteParams['event'], fields: (args: Args) => object = () => ({})) =>
  ({
    type: 'note',
    params: (args: Args): NoteParams => ({
      event,
      at: args.event.at,
      run_id: args.context.runId,
      ...fields(args),
    }),
  }) as const;

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

const granting = { guard: 'canGrant', actions: 'grant' } as const;

/** How each state in which anything runs is left from outside. */
const leaving = {
  'run.interrupt': 'draining',
  'run.kill': { target: 'draining', actions: 'killAll' },
  'leadership.acquired': 'recovering',
} as const;

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
    'run.drain': {},
    'session.pause': { actions: 'keepPause' },
    'session.resumed': {},
    'compaction.finished': {},
    'quota.exhausted': {},
    'message.refused': {},
    'leadership.acquired': {},
  },
  states: {
    recovering: {
      initial: 'uncalled',
      entry: ['forgetUsage', { type: 'stopAll', params: 'runtimeRestart' }],
      on: { ...leaving, 'leadership.acquired': { target: 'recovering', reenter: true } },
      states: {
        uncalled: { on: { 'run.begun': { target: 'quieting', actions: 'takePlan' } } },
        quieting: { always: { guard: 'isQuiet', target: '#orchestration.running' } },
      },
    },
    running: {
      tags: 'active',
      always: [
        { guard: 'isDone', target: 'finished' },
        { guard: 'isContextLow', target: 'compacting' },
        { guard: 'needsPause', target: 'pausing', actions: 'choosePause' },
        { guard: 'isBlocked', target: 'blocking' },
        { guard: 'canDispatch', actions: 'dispatch' },
        granting,
      ],
      on: {
        ...leaving,
        'run.drain': 'finishing',
        'quota.exhausted': { target: 'quota', actions: 'keepQuota' },
      },
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
                  actions: [
                    { type: 'stopCompaction', params: compactionOf },
                    compactionFailed('it took too long'),
                  ],
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
        'run.kill': { target: '.stopping', actions: 'killAll' },
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
          on: { 'run.kill': { actions: 'killAll' } },
          always: [
            { guard: 'isDone', target: '#orchestration.finished' },
            { guard: 'isQuiet', target: '#orchestration.paused', actions: paused },
          ],
        },
      },
    },
    paused: {
      tags: 'resting',
      on: {
        'session.pause': {},
        'session.resumed': {
          target: 'running',
          actions: ['forgetPause', noting('session_resumed')],
        },
      },
    },
    quota: {
      tags: 'active',
      initial: 'stopping',
      entry: noting('quota_exhausted', ({ context }) => ({
        level: 'warn',
        resets_at: context.quotaEndsAt,
      })),
      on: { ...leaving, 'quota.exhausted': { actions: 'keepQuota' } },
      states: {
        stopping: {
          entry: { type: 'stopAll', params: 'quota' },
          always: { guard: 'isQuiet', target: 'waiting' },
        },
        waiting: { after: { quotaReset: 'probing' } },
        probing: {
          always: [
            { guard: 'canProbe', actions: 'dispatchOne' },
            granting,
            { guard: 'isDone', target: '#orchestration.finished' },
            // Nothing to probe with: whatever becomes available later will show.
            { guard: 'isQuiet', target: '#orchestration.running' },
          ],
          on: {
            'quota.exhausted': { target: 'stopping', actions: 'keepQuota' },
            'task.settled': {
              guard: 'isProbeEnd',
              target: '#orchestration.running',
              actions: ['takeSettled', noting('quota_available')],
            },
          },
        },
      },
    },
    finishing: {
      tags: 'active',
      entry: noting('run_draining', () => ({ cause: 'command' })),
      always: [
        { guard: 'isDone', target: 'finished' },
        { guard: 'isQuiet', target: 'stopped' },
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
      on: { 'run.kill': { actions: 'killAll' }, 'leadership.acquired': 'recovering' },
    },
    blocking: {
      tags: 'active',
      entry: { type: 'stopAll', params: 'shutdown' },
      always: { guard: 'isQuiet', target: 'blocked' },
      on: { 'run.kill': { actions: 'killAll' }, 'leadership.acquired': 'recovering' },
    },
    blocked: {
      tags: 'resting',
      on: { 'run.begun': { target: 'recovering.quieting', actions: 'takePlan' } },
    },
    stopped: {
      tags: 'resting',
      on: { 'run.begun': { target: 'recovering.quieting', actions: 'takePlan' } },
    },
    finished: { type: 'final', entry: ['keepEnd', finished] },
  },
});
