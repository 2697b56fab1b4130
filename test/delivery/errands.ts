/**
 * A machine that does with a question what the question says, and performers that do: everything
 * that can become of a question, in one place.
 */

import { assign, enqueueActions, fromPromise, sendTo, setup } from 'xstate';
import type { KindOptions, PerformerCall } from '../../runtime/actor/kind.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { answer, hint, type Question, spawnRoot, to } from '../../runtime/machine.ts';

export const WAYS = [
  ...[
    'answer',
    'ignore',
    'keep',
    'answerLater',
    'end',
    'fail',
    'bear',
    'forward',
    'forwardNowhere',
    'hintNowhere',
  ],
  ...['hintOn', 'inline', 'inlineThrows', 'child', 'childFails', 'missing'],
  ...['reply', 'throw', 'refuse', 'nothing', 'reject', 'wait', 'sendBack', 'replyLate', 'odd'],
  ...['durable', 'durableThrows', 'durableNothing'],
] as const;
export type Way = (typeof WAYS)[number];

/** `then` is what the next holder does. */
type Run = Question<{ type: 'run'; way: Way; then?: Way }, string>;

interface Given {
  readonly replyTo: string;
  readonly way: Way;
  readonly then: Way;
}

const answered = (replyTo: string) =>
  answer(
    () => replyTo,
    () => 'answered',
  );

export const errand = setup({
  types: {
    context: {} as { kept: string },
    input: {} as { replyTo?: string; then?: Way } | undefined,
    events: {} as
      | Run
      | { type: 'answerKept' }
      | { type: 'dropKept' }
      | { type: 'stop' }
      | { type: 'begin'; way: Way },
  },
  actors: {
    clerk: fromPromise(async ({ input }: { input: { replyTo: string; fails: boolean } }) => {
      if (input.fails) throw new Error('no');
      return input.replyTo;
    }),
  },
  actions: {
    performer: (_, _given: Given) => {},
    durable: (_, _given: Given) => {},
    missing: () => {},
    inline: ({ self }, { replyTo, throws }: { replyTo: string; throws: boolean }) => {
      if (throws) throw new Error('no');
      self.send({ type: 'run', way: 'answer', replyTo } as never);
    },
  },
  delays: { aWhile: 1_000 },
}).createMachine({
  id: 'errand',
  context: ({ input }) => ({ kept: input?.replyTo ?? '' }),
  initial: 'open',
  on: {
    answerKept: {
      actions: answer(
        ({ context }) => context.kept,
        () => 'at last',
      ),
    },
    dropKept: { actions: assign({ kept: '' }) },
    stop: '.ended',
    run: {
      actions: enqueueActions(({ event, enqueue }) => {
        const { way, then = 'answer', replyTo = '' } = event;
        const next = { type: 'run', way: then, replyTo } as never;
        if (way === 'answer') enqueue(answered(replyTo) as never);
        else if (way === 'keep') enqueue.assign({ kept: replyTo });
        else if (way === 'fail') throw new Error('no');
        else if (way === 'answerLater') enqueue.raise(next, { delay: 'aWhile' });
        else if (way === 'forward') enqueue(sendTo(to('errand/next'), next) as never);
        else if (way === 'forwardNowhere') enqueue(sendTo(to('errand/nobody'), next) as never);
        else if (way === 'hintNowhere') enqueue(sendTo(hint('errand/nobody'), next) as never);
        else if (way === 'hintOn') enqueue(sendTo(hint('errand/next'), next) as never);
        else if (way === 'bear') enqueue(spawnRoot('errand/born', () => ({ replyTo })) as never);
        else if (way === 'inline' || way === 'inlineThrows')
          enqueue({ type: 'inline', params: { replyTo, throws: way === 'inlineThrows' } });
        else if (way === 'missing') enqueue({ type: 'missing' });
        else if (way === 'child' || way === 'childFails' || way === 'end') {
          enqueue.assign({ kept: replyTo });
          enqueue.raise(way === 'end' ? { type: 'stop' } : { type: 'begin', way });
        } else if (way.startsWith('durable'))
          enqueue({ type: 'durable', params: { replyTo, way, then } });
        else if (way !== 'ignore') enqueue({ type: 'performer', params: { replyTo, way, then } });
      }),
    },
  },
  states: {
    open: { on: { begin: 'asking' } },
    asking: {
      exit: assign({ kept: '' }),
      invoke: {
        src: 'clerk',
        input: ({ context, event }) => ({
          replyTo: context.kept,
          fails: (event as { way?: Way }).way === 'childFails',
        }),
        onDone: {
          target: 'open',
          actions: answer(
            ({ event }) => event.output,
            () => 'answered',
          ),
        },
        onError: 'open',
      },
    },
    ended: { type: 'final' },
  },
});

type Call = PerformerCall & { readonly params: Given };

async function perform({ params, reply, send }: Call): Promise<void> {
  const { replyTo, way, then } = params;
  if (way === 'reply') reply(replyTo, 'answered');
  if (way === 'odd') reply(replyTo, () => 10n);
  if (way === 'reject') throw new Error('no');
  if (way === 'refuse') throw new RuntimeError('MAILBOX_FULL', 'Later.');
  if (way === 'wait') await new Promise(() => {});
  if (way === 'sendBack') await send({ type: 'run', way: then, replyTo });
}

export const OPTIONS: KindOptions = {
  supervise: { onFailure: 'skip', failuresMax: 1_000_000 },
  perform: {
    performer: (call: Call) => {
      if (call.params.way === 'throw') throw new Error('no');
      if (call.params.way === 'nothing') return undefined;
      return perform(call);
    },
    durable: {
      durable: true,
      attemptsMax: 2,
      run: ({ params: { way, replyTo }, reply }: Call) => {
        if (way === 'durableThrows') throw new Error('no');
        if (way === 'durable') reply(replyTo, 'answered');
      },
    },
  },
};
