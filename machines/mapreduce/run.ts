/**
 * Run: every item of a workflow to its end, a number of them at a time.
 *
 *   preparing ──▶ settingUp ──▶ mapping ──all items final──▶ reducing ──▶ completed ■
 *      │              └───────────┴──────────────────────────────┴─ fails ─▶ failing ──no agent left──▶ failed
 *      └─ no items ──▶ completed ■
 *   settingUp, mapping, reducing ──run.interrupt──▶ interrupting ──no agent left──▶ interrupted
 *   failed, interrupted ──run.resume──▶ continuing;  interrupting ──run.resume──▶ resuming ──no agent left──▶ continuing
 *   continuing ──▶ settingUp, mapping or reducing, where it was; completed, where a reduce came to its end meanwhile
 *
 *   item:  pending ──▶ running ──▶ done, dlq, skipped, failed
 *             ▲           └──▶ retryWait ─┐
 *             └───────────────────────────┘
 *
 *   mapping, in regions of their own:
 *     items        every end of an agent
 *     flow         open ──an agent is out of quota──▶ paused ──after quotaPause──▶ probing ──it ends──▶ open
 *                  open ──too many items have failed──▶ draining ──no agent left──▶ failing
 *     retryDelay   off, armed: until the next retry is due
 *     agentLimit   fixed, stated ──enough successes──▶ ofMedian: attempts that begin get a share of it as their limit
 *     alert        quiet ──the rate of timeouts is too high──▶ raised, once in a run
 *
 * A due retry goes before new items, which begin in the order of the input. A run whose runner begins again
 * is interrupted: its agents clean up after the one before, and nothing begins until it is resumed. What is
 * final stays final, but for items that failed with their run.
 */

import type { LogEvent } from './log-events.ts';
import { initialRun, type RunContext, type RunEvent } from './run/context.ts';
import { ratePercent, runSetup } from './run/setup.ts';

export type { RunInput, RunRules } from './run/context.ts';

type Args = { readonly context: RunContext; readonly event: RunEvent };

const noting = (event: LogEvent['event'], fields: (args: Args) => object = () => ({})) =>
  ({
    type: 'note',
    params: (args: Args): LogEvent => ({
      event,
      at: args.event.at,
      run_id: args.context.runId,
      ...fields(args),
    }),
  }) as const;

const ended = (status: 'completed' | 'failed' | 'interrupted') =>
  noting('RunEnded', ({ context: { reason } }) => ({ status, reason }));

const begun = (context: RunContext): RunContext => ({
  ...context,
  agentsStarted: context.agentsStarted + context.agents.size,
});

const alerted = noting('TimeoutAlert', ({ context }) => ({
  rate_percent: ratePercent(begun(context)),
  threshold_percent: context.rules.alertPercent,
  agents_started: begun(context).agentsStarted,
  timeouts_occurred: context.timeouts,
}));

const takeEnd = { 'agent.ended': { actions: 'takeEnd' } } as const;

export const runMachine = runSetup.createMachine({
  id: 'mapreduce',
  context: ({ input }) => initialRun(input),
  initial: 'preparing',
  on: {
    'agent.ended': { actions: 'takeEnd' },
    'cost.reported': { actions: 'addCost' },
    'failure.kept': { actions: 'forgetKept' },
    'run.interrupt': {},
    'run.kill': {},
    'run.resume': {},
    // An agent that ended when it was to be stopped.
    'message.refused': {},
    'leadership.acquired': {},
  },
  states: {
    preparing: {
      always: [
        { guard: 'hasNoItems', target: 'completed' },
        { guard: 'hasSetup', target: 'active.settingUp' },
        { target: 'active.mapping' },
      ],
    },
    active: {
      initial: 'mapping',
      tags: 'active',
      on: {
        'run.interrupt': 'interrupting',
        'run.kill': { target: 'interrupting', actions: 'killAgents' },
        'leadership.acquired': 'interrupting',
      },
      states: {
        settingUp: {
          entry: 'beginSetup',
          on: takeEnd,
          always: [
            { guard: 'hasReason', target: '#mapreduce.failing' },
            { guard: 'isSetUp', target: 'mapping' },
          ],
        },
        mapping: {
          type: 'parallel',
          always: [
            { guard: 'hasReason', target: '#mapreduce.failing' },
            {
              guard: 'isOverBudget',
              target: '#mapreduce.failing',
              actions: { type: 'keepReason', params: 'the budget of the run is used up' },
            },
            {
              guard: 'hasHaltedNow',
              target: '#mapreduce.failing',
              actions: { type: 'keepReason', params: 'too many items have failed' },
            },
            { guard: 'isMappedWithReduce', target: 'reducing' },
            { guard: 'isMapped', target: '#mapreduce.completed' },
          ],
          states: {
            items: { on: takeEnd },
            flow: {
              initial: 'open',
              states: {
                open: {
                  always: [
                    { guard: 'hasHaltedSoon', target: 'draining' },
                    { guard: 'hasRoomAndWork', actions: 'beginItems' },
                  ],
                  on: { 'agent.ended': { guard: 'isDeferred', target: 'paused' } },
                },
                paused: {
                  entry: noting('RunPaused', ({ context }) => ({
                    resume_after_ms: context.rules.quotaResumeAfterMs,
                  })),
                  after: { quotaPause: 'probing' },
                },
                probing: {
                  entry: 'beginProbe',
                  on: {
                    'agent.ended': [
                      { guard: 'isDeferred', target: 'paused' },
                      { target: 'open', actions: noting('RunContinued') },
                    ],
                  },
                },
                draining: {
                  always: {
                    guard: 'hasNoAgents',
                    target: '#mapreduce.failing',
                    actions: { type: 'keepReason', params: 'too many items have failed' },
                  },
                },
              },
            },
            retryDelay: {
              initial: 'choosing',
              on: { 'agent.ended': '.choosing' },
              states: {
                choosing: {
                  always: [{ guard: 'hasLaterRetry', target: 'armed' }, { target: 'off' }],
                },
                off: {},
                armed: { after: { retryDelay: 'choosing' } },
              },
            },
            agentLimit: {
              initial: 'choosing',
              states: {
                choosing: {
                  always: [{ guard: 'followsMedian', target: 'stated' }, { target: 'fixed' }],
                },
                fixed: {},
                stated: { always: { guard: 'hasEnoughSuccesses', target: 'ofMedian' } },
                ofMedian: {},
              },
            },
            alert: {
              initial: 'quiet',
              states: {
                quiet: {
                  always: { guard: 'isRateExceeded', target: 'raised', actions: alerted },
                },
                raised: {},
              },
            },
          },
        },
        reducing: {
          entry: 'beginReduce',
          on: takeEnd,
          always: [
            { guard: 'hasReason', target: '#mapreduce.failing' },
            { guard: 'isReduced', target: '#mapreduce.completed' },
          ],
        },
        // A history state would say the same, and have every turn of a run cost more.
        continuing: {
          always: [
            { guard: 'hasSetup', target: 'settingUp' },
            { guard: 'isReduced', target: '#mapreduce.completed' },
            { guard: 'hasBegunReduce', target: 'reducing' },
            { target: 'mapping' },
          ],
        },
      },
    },
    interrupting: {
      tags: 'stopping',
      entry: { type: 'cancelAgents', params: 'interrupted' },
      on: {
        ...takeEnd,
        'run.kill': { actions: 'killAgents' },
        'run.resume': 'resuming',
      },
      always: { guard: 'hasNoAgents', target: 'interrupted' },
    },
    resuming: {
      tags: 'stopping',
      on: { ...takeEnd, 'run.interrupt': 'interrupting' },
      always: { guard: 'hasNoAgents', target: 'active.continuing' },
    },
    interrupted: {
      entry: ['keepEnd', ended('interrupted')],
      on: { 'run.resume': { target: 'active.continuing', actions: 'forgetEnd' } },
    },
    failing: {
      tags: 'stopping',
      entry: { type: 'cancelAgents', params: 'cancelled' },
      on: { ...takeEnd, 'run.kill': { actions: 'killAgents' } },
      always: { guard: 'hasNoAgents', target: 'failed' },
    },
    failed: {
      entry: ['failRest', 'keepEnd', ended('failed')],
      on: { 'run.resume': { target: 'active.continuing', actions: 'reopen' } },
    },
    completed: { type: 'final', entry: ['keepEnd', ended('completed')] },
  },
});
