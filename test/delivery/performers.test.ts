/** Named actions carried out: when, how often, under which id, and what of it is left behind. */

import { afterEach, expect, test, vi } from 'vitest';
import { assign, emit, log, setup } from 'xstate';
import type { DurablePerformer, Performer, PerformerCall } from '../../runtime/kind.ts';
import type { Logger } from '../../runtime/options.ts';
import { testRuntime } from '../../simulator/testing.ts';
import { memoryStore } from '../../stores/memory.ts';

interface Seen {
  readonly params: unknown;
  readonly effectId: string;
  readonly attempt: number;
}

const shop = setup({
  types: {
    context: {} as { got: number[] },
    events: {} as
      | { type: 'charge'; amount: number }
      | { type: 'charged'; number: number }
      | { type: 'inline' }
      | { type: 'several' }
      | { type: 'missing' },
    emitted: {} as { type: 'rang' },
  },
  actions: {
    charge: (_, _params: { amount: number }) => {},
    print: (_, _params: { line: string }) => {},
    absent: () => {},
  },
}).createMachine({
  id: 'shop',
  context: { got: [] },
  on: {
    charge: { actions: { type: 'charge', params: ({ event }) => ({ amount: event.amount }) } },
    charged: { actions: assign({ got: ({ context, event }) => [...context.got, event.number] }) },
    inline: {
      actions: ({ self, context }) => {
        self.send({ type: 'charged', number: context.got.length });
        self.send({ type: 'unheard of' } as never);
      },
    },
    several: {
      actions: [
        { type: 'print', params: { line: 'first' } },
        emit({ type: 'rang' }),
        log('in between'),
        { type: 'print', params: { line: 'last' } },
      ],
    },
    missing: { actions: 'nobody' as never },
  },
});

type Perform = Record<string, Performer | DurablePerformer>;

async function start(perform: Perform, logger?: Logger) {
  const store = memoryStore();
  const rt = await testRuntime({
    kinds: { shop },
    store,
    options: { shop: { perform } },
    ...(logger === undefined ? {} : { logger }),
  });
  const actor = await rt.spawn('shop/1');
  const record = () => JSON.parse(store.load('shop/1@test') ?? '{}');
  return { rt, actor, store, record };
}

function durable(run: Performer, attemptsMax = 5): DurablePerformer {
  return { durable: true, attemptsMax, run };
}

afterEach(() => {
  vi.restoreAllMocks();
});

test('a performer gets params, address and an effect id of its own', async () => {
  const seen: Seen[] = [];
  const { actor } = await start({
    charge: ({ params, effectId, attempt, address }: PerformerCall) => {
      seen.push({ params, effectId, attempt });
      expect(address).toBe('shop/1@test');
    },
  });
  await actor.send({ type: 'charge', amount: 1 });
  await actor.send({ type: 'charge', amount: 2 });
  expect(seen.map(({ params }) => params)).toEqual([{ amount: 1 }, { amount: 2 }]);
  expect(new Set(seen.map(({ effectId }) => effectId)).size).toBe(2);
});

test('an action that is not durable runs at most once, whatever becomes of it', async () => {
  const seen: Seen[] = [];
  const { rt, actor, record } = await start({
    charge: (call: PerformerCall) => {
      seen.push(call);
      throw new Error('no luck');
    },
  });
  await actor.send({ type: 'charge', amount: 1 });
  expect(record().effects).toBeUndefined();
  await rt.advance('1h');
  await rt.crash();
  await rt.advance('1h');
  expect(seen).toHaveLength(1);
  expect(rt.runtime.undelivered()).toEqual([]);
});

test('a durable effect is tried again after growing pauses, under one id, and then is gone', async () => {
  const seen: Array<Seen & { at: number }> = [];
  const { rt, actor, record } = await start({
    charge: durable(async (call) => {
      seen.push({ ...call, at: rt.now() });
      if (seen.length < 4) throw new Error('not yet');
    }),
  });
  await actor.send({ type: 'charge', amount: 1 });
  expect(record().effects).toHaveLength(1);
  await rt.advance('1m');
  expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
  expect(new Set(seen.map(({ effectId }) => effectId)).size).toBe(1);
  const pauses = seen.slice(1).map(({ at }, index) => at - (seen[index]?.at ?? 0));
  pauses.forEach((pause, index) => {
    expect(pause).toBeGreaterThanOrEqual(100 * 2 ** index);
    expect(pause).toBeLessThanOrEqual(200 * 2 ** index);
  });
  expect(record().effects).toBeUndefined();
  expect(rt.runtime.counts().performers).toBe(0);
});

test('a durable effect runs again after a crash, under the same id, and once it is done never again', async () => {
  const seen: Seen[] = [];
  let isHanging = true;
  const { rt, actor } = await start({
    charge: durable((call) => {
      seen.push(call);
      return isHanging ? new Promise(() => {}) : undefined;
    }),
  });
  await actor.send({ type: 'charge', amount: 5 });
  await rt.crash();
  isHanging = false;
  await rt.crash();
  await rt.crash();
  await rt.advance('1h');
  expect(seen.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  expect(new Set(seen.map(({ effectId }) => effectId)).size).toBe(1);
  expect(seen[2]?.params).toEqual({ amount: 5 });
});

test('an effect that never succeeds is given up with EFFECT_FAILED, once', async () => {
  let runs = 0;
  const { rt, actor, record } = await start({
    charge: durable(() => {
      runs += 1;
      throw new Error('card declined');
    }, 3),
  });
  await actor.send({ type: 'charge', amount: 5 });
  await rt.advance('1m');
  expect(runs).toBe(3);
  expect(rt.runtime.undelivered()).toMatchObject([
    {
      to: 'shop/1@test',
      error: { code: 'EFFECT_FAILED', message: expect.stringContaining('card declined') },
    },
  ]);
  expect(record().effects).toBeUndefined();
  await rt.crash();
  await rt.advance('1m');
  expect(runs).toBe(3);
});

test('what a durable performer sends is taken once, however often it runs', async () => {
  let runs = 0;
  const { rt, actor, record } = await start({
    charge: durable(async ({ send }) => {
      runs += 1;
      await send({ type: 'charged', number: 1 });
      await send({ type: 'charged', number: 2 });
      if (runs < 4) throw new Error('after sending');
      await send({ type: 'charged', number: 3 });
    }),
  });
  await actor.send({ type: 'charge', amount: 5 });
  await rt.settle();
  await rt.crash();
  await rt.advance('1m');
  expect(runs).toBe(4);
  expect(actor.getSnapshot().context.got).toEqual([1, 2, 3]);
  // Neither effect nor mark is left: an actor may have any number of effects in its life.
  expect(record()).not.toHaveProperty('effects');
  expect(record()).not.toHaveProperty('inbox');
});

test('sends that a performer does not wait for are taken once as well', async () => {
  let runs = 0;
  const { rt, actor } = await start({
    charge: durable(({ send }) => {
      runs += 1;
      void send({ type: 'charged', number: 1 });
      void send({ type: 'unheard of' });
      void send({ type: 'charged', number: 2 });
      if (runs < 3) throw new Error('again');
    }),
  });
  await actor.send({ type: 'charge', amount: 5 });
  await rt.advance('1m');
  expect(runs).toBe(3);
  expect(actor.getSnapshot().context.got).toEqual([1, 2]);
});

test('a performer that is over sends nothing more', async () => {
  let late: PerformerCall['send'] | undefined;
  const { rt, actor } = await start({
    charge: durable(({ send }) => {
      late = send;
    }),
  });
  await actor.send({ type: 'charge', amount: 5 });
  await rt.settle();
  await expect(late?.({ type: 'charged', number: 1 })).rejects.toMatchObject({ code: 'ABORTED' });
  expect(actor.getSnapshot().context.got).toEqual([]);
});

test('stop() aborts what runs; a durable effect stays for the next start', async () => {
  const signals: AbortSignal[] = [];
  const { rt, actor, record } = await start({
    charge: durable(({ signal }) => {
      signals.push(signal);
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      );
    }),
  });
  await actor.send({ type: 'charge', amount: 5 });
  await rt.stop();
  expect(signals[0]?.aborted).toBe(true);
  expect(signals[0]?.reason).toMatchObject({ code: 'RUNTIME_STOPPED' });
  expect(record().effects).toHaveLength(1);
  await rt.start();
  expect(signals).toHaveLength(2);
});

test('an inline action runs after the commit and may send to its own actor', async () => {
  const rejections: unknown[] = [];
  const noted = (reason: unknown) => rejections.push(reason);
  process.on('unhandledRejection', noted);
  const { rt, actor } = await start({});
  await actor.send({ type: 'inline' });
  await rt.settle();
  await actor.send({ type: 'inline' });
  await rt.settle();
  expect(actor.getSnapshot().context.got).toEqual([0, 1]);
  await rt.settle();
  process.off('unhandledRejection', noted);
  // What is refused of a send that nobody waits for ends no process.
  expect(rejections).toEqual([]);
});

test('effects are carried out in the order the machine asked for them', async () => {
  const lines: unknown[] = [];
  const logger: Logger = {
    debug() {},
    warn() {},
    error() {},
    info: (fields) => void ('log' in fields && lines.push(['log', fields.log])),
  };
  const { actor } = await start({ print: ({ params }) => void lines.push(params.line) }, logger);
  actor.on('rang', () => lines.push('rang'));
  actor.subscribe(() => lines.push('snapshot'));
  await actor.send({ type: 'several' });
  // XState itself lets what is emitted wait for the actions.
  expect(lines).toEqual(['first', ['log', ['in between']], 'last', 'rang', 'snapshot']);
});

test('an action that nobody implements is told once', async () => {
  const warned: object[] = [];
  const logger: Logger = {
    debug() {},
    info() {},
    error() {},
    warn: (fields) => void warned.push(fields),
  };
  const { actor } = await start({}, logger);
  await actor.send({ type: 'missing' });
  await actor.send({ type: 'missing' });
  expect(warned.filter((fields) => 'action' in fields)).toEqual([
    { kind: 'shop', action: 'nobody' },
  ]);
});

test('a performer that throws, at once or later, harms nothing', async () => {
  const errors: object[] = [];
  const logger: Logger = {
    debug() {},
    info() {},
    warn() {},
    error: (fields) => void errors.push(fields),
  };
  const { rt, actor } = await start(
    {
      charge: () => {
        throw null;
      },
      print: async () => {
        throw new Error('later');
      },
    },
    logger,
  );
  await actor.send({ type: 'charge', amount: 1 });
  await actor.send({ type: 'several' });
  await rt.settle();
  await actor.send({ type: 'charged', number: 1 });
  expect(errors).toHaveLength(3);
  expect(rt.runtime.counts().performers).toBe(0);
});
