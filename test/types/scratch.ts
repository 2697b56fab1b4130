import { assign, sendTo, setup } from 'xstate';
import { type Born, type Question, reply, spawnRoot, type Timed, to } from '../../runtime/machine.ts';

type E = Timed<{ type: 'paid'; by: string }> | Question<{ type: 'quote' }, number>;
export const m = setup({
  types: { context: {} as { total: number; at: number }, input: {} as Born<{ total: number }>, events: {} as E },
  actions: { answer: reply(({ context }) => context.total) , q: (_, _params: {n: number}) => {}},
}).createMachine({
  context: ({ input }) => ({ total: input.total, at: input.at }),
  initial: 'a',
  on: { quote: { actions: [reply(({ context }) => context.total), 'answer'] } },
  states: {
    a: {
      entry: spawnRoot('mail/1', ({ context }) => ({ to: context.total })),
      on: {
        paid: {
          actions: [
            assign({ at: ({ event }) => event.at }),
            spawnRoot(({ event }) => `mail/${event.by}`),
            sendTo(to('x/1'), { type: 'any', a: 1 }),
            sendTo(to<E>('x/1'), { type: 'paid', by: 's' }),
            sendTo(({ context }) => to<E>(`x/${context.total}`), ({ context }) => ({ type: 'paid', by: `${context.at}` })),
          ],
        },
      },
    },
    b: {
      on: {
        // @ts-expect-error text
        quote: { actions: reply(() => 'text') },
        // @ts-expect-error wrong event
        paid: { actions: sendTo(to<E>('x/1'), { type: 'paid', by: 1 }) },
      },
    },
  },
});
import { waitFor } from 'xstate';
import { createRuntime } from '../../index.ts';
import { testRuntime } from '../../simulator/testing.ts';
export async function x() {
  const rt = (await createRuntime()).register('order', m);
  const h = await rt.spawn('order/1', { input: { total: 1 } });
  await h.send({ type: 'paid', by: 'me' });
  const n: number = await h.ask({ type: 'quote' });
  // @ts-expect-error not text
  const t: string = await h.ask({ type: 'quote' });
  // @ts-expect-error
  await h.send({ type: 'nope' });
  // @ts-expect-error
  await h.send({ type: 'paid' });
  // @ts-expect-error
  await h.send({ type: 'paid', by: 1 });
  // @ts-expect-error
  await rt.spawn('nope/1');
  // @ts-expect-error
  await rt.spawn('order/1');
  // @ts-expect-error
  await rt.spawn('order/1', { input: { total: 'x' } });
  const s = await waitFor(h, (sn) => sn.matches('a'));
  s.context.total.toFixed();
  // @ts-expect-error
  s.matches('zz');
  const r2 = await testRuntime({ kinds: { order: m } });
  (await r2.spawn('order/1', { input: { total: 1 } })).getSnapshot().value satisfies 'a' | 'b';
  const any = await (await createRuntime()).spawn('order/2', { input: 3 });
  await any.send({ type: 'what', x: 1 });
  return [n, t];
}
export async function y() {
  const rt = (await createRuntime()).register('order', m, { perform: {
    q: async ({ params, send }) => { params.n.toFixed(); await send({ type: 'paid', by: 'x' }); },
  } });
  (await createRuntime()).register('order', m, { perform: {
    q: { durable: true, run: async ({ params }) => { params.n.toFixed(); } },
  } });
  (await createRuntime()).register('order', m, { perform: {
    // @ts-expect-error wrong params
    q: { durable: true, run: async ({ params }) => { params.zz.toFixed(); } },
  } });
  // @ts-expect-error unknown action
  (await createRuntime()).register('order', m, { perform: { qq: () => {} } });
  const r2 = await testRuntime({ kinds: { order: m }, options: { order: { perform: { q: ({ params }) => params.n } } } });
  return [rt, r2];
}
