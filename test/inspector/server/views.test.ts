/** Views of a living node: what the page asks, answered by a real runtime over a real port. */

import { afterEach, describe, expect, test } from 'vitest';
import type { Frame } from '../../../inspector/protocol.ts';
import { eventually } from '../../kit/eventually.ts';
import { call, type Inspected, inspected, readStream } from './inspected.ts';

let node: Inspected;
afterEach(() => node.close());

const PLACE = '@node-1';

describe('an inspector', () => {
  test('lists actors, filtered, sorted and in pages', async () => {
    node = await inspected();
    for (let index = 0; index < 25; index += 1) await node.runtime.spawn(`order/${index}` as never);
    // Its turn is the latest by the clock too, and not in the millisecond of the last spawn.
    const spawnedAt = Date.now();
    await eventually(() => expect(Date.now()).toBeGreaterThan(spawnedAt));
    await node.runtime.actor('order/7' as never).send({ type: 'order.add' } as never);
    await node.runtime.actor('order/7' as never).send({ type: 'order.pay' } as never);
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await call(
        node.port,
        `/api/actors?limit=10${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      seen.push(...body.rows.map(({ address }: { address: string }) => address));
      cursor = body.cursor ?? '';
    } while (cursor !== '');
    expect(new Set(seen).size).toBe(25);
    const paid = await call(node.port, '/api/actors?state=paid');
    expect(paid.body.rows).toMatchObject([{ address: `order/7${PLACE}`, status: 'done' }]);
    const found = await call(node.port, '/api/actors?text=ORDER%2F1');
    expect(found.body.rows).toHaveLength(11);
    const late = await call(node.port, '/api/actors?sort=turnAt&order=desc&limit=1');
    expect(late.body.rows[0].address).toBe(`order/7${PLACE}`);
    const due = await call(node.port, '/api/actors?sort=deadline&limit=3');
    expect(due.body.rows.map(({ dueAt }: { dueAt: number }) => typeof dueAt)).toEqual([
      'number',
      'number',
      'number',
    ]);
    expect((await call(node.port, '/api/actors?limit=0')).status).toBe(400);
    expect((await call(node.port, '/api/actors?stuckFor=soon')).status).toBe(400);
  });

  test('shows an actor with its deadlines, exits and events, and no secret', async () => {
    node = await inspected({
      redact: (path, value) => (path === '/customer/name' ? '[a name]' : value),
    });
    await node.runtime.spawn('order/1' as never, { input: { name: 'Bob' } } as never);
    await node.runtime.actor('order/1' as never).send({ type: 'order.add' } as never);
    const { body } = await call(node.port, `/api/actor?address=order/1${PLACE}`);
    const { actor } = body;
    expect(actor.context.value).toEqual({
      items: 1,
      apiToken: '[redacted]',
      customer: { name: '[a name]', password: '[redacted]' },
    });
    expect(actor.context.redacted).toEqual(['/apiToken', '/customer/name', '/customer/password']);
    expect(actor.active).toEqual(['', 'open']);
    expect(actor.lastTransitions).toEqual(['open|order.add|0']);
    const [deadline] = actor.deadlines;
    expect(deadline).toMatchObject({
      name: 'limit',
      state: 'open',
      dueAt: deadline.armedAt + 60_000,
    });
    expect(actor.exits.map(({ cause }: { cause: string }) => cause)).toEqual([
      '"order.pay"',
      'after "limit"',
    ]);
    const { body: definition } = await call(node.port, '/api/definition?kind=order');
    const ids = definition.chart.transitions.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(
      expect.arrayContaining([...deadline.transitions, ...actor.lastTransitions]),
    );
    expect(definition.chart.hash).toBe(actor.definition);
  });

  test('says what an event would do, and does not do it', async () => {
    node = await inspected();
    await node.runtime.spawn('order/1' as never);
    const can = async (event: string) =>
      (await call(node.port, `/api/can?address=order/1${PLACE}&event=${event}`)).body;
    expect(await can('order.pay')).toMatchObject({ isTaken: false, transitions: [] });
    expect(await can('order.add')).toMatchObject({
      isTaken: true,
      transitions: ['open|order.add|0'],
    });
    expect(await can('order.nonsense')).toMatchObject({
      isTaken: false,
      why: expect.stringContaining('anywhere'),
    });
    await node.runtime.actor('order/1' as never).send({ type: 'order.add' } as never);
    expect(await can('order.pay')).toMatchObject({ isTaken: true, state: 'paid' });
    const { body } = await call(node.port, `/api/turns?address=order/1${PLACE}`);
    expect(body.turns).toHaveLength(2);
    expect(body.howToRecord).toContain('record');
  });

  test('counts kinds by state, and tells what was watched as it changes', async () => {
    node = await inspected();
    for (let index = 0; index < 5; index += 1) await node.runtime.spawn(`order/${index}` as never);
    const stream = await readStream(node.port);
    const watch = {
      stream: stream.id,
      overview: '1m',
      lists: { all: { kind: 'order' } },
      actors: [`order/1${PLACE}`],
      turns: [`order/1${PLACE}`],
    };
    expect((await call(node.port, '/api/watch', { body: watch })).status).toBe(204);
    await stream.until((frame) => frame.type === 'list' && frame.order.length === 5);
    await stream.until(
      (frame) => frame.type === 'overview' && frame.overview.kinds[0]?.states[0]?.count === 5,
    );
    await node.runtime.actor('order/1' as never).send({ type: 'order.add' } as never);
    const turns = (await stream.until(({ type }) => type === 'turns')) as Extract<
      Frame,
      { type: 'turns' }
    >;
    expect(turns.turns[0]).toMatchObject({
      event: 'order.add',
      state: 'open',
      context: { value: { items: 1, apiToken: '[redacted]' } },
    });
    await stream.until((frame) => frame.type === 'actor' && frame.actor?.turns === 2);
    await stream.until(
      (frame) =>
        frame.type === 'list' && frame.changed.some(({ address }) => address === `order/1${PLACE}`),
    );
    expect(stream.frames.every(({ at }) => Math.abs(at - Date.now()) < 3_600_000)).toBe(true);
    node.handler.close();
    expect(await stream.until(({ type }) => type === 'closing')).toMatchObject({ retry: true });
    await stream.ended;
  });

  test('records what happens, and hands it out as a file and as turns with contexts', async () => {
    node = await inspected({ record: { turnsMax: 3 } });
    await node.runtime.spawn('order/1' as never);
    for (let index = 0; index < 4; index += 1)
      await node.runtime.actor('order/1' as never).send({ type: 'order.add' } as never);
    const { body } = await call(node.port, `/api/turns?address=order/1${PLACE}`);
    expect(body.recorded).toEqual({ from: 3, to: 5 });
    expect(
      body.turns.map(
        ({ context }: { context?: { value: { items: number } } }) => context?.value.items,
      ),
    ).toEqual([undefined, undefined, 2, 3, 4]);
    const file = await call(node.port, '/api/recording');
    expect(file.headers['content-disposition']).toContain('run.jsonl');
    const lines = file.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ type: 'recording', version: 1 });
    expect(lines.find(({ type }) => type === 'turn').context).toMatchObject({
      items: 2,
      apiToken: '[redacted]',
    });
    expect(file.text).not.toContain('sesame');
    expect(file.text).not.toContain('hunter2');
    expect(lines.some(({ type, count }) => type === 'skipped' && count > 0)).toBe(true);
    expect(
      (await call(node.port, '/api/test?address=order/1@node-1')).body.error.message,
    ).toContain('spawn');
    expect(
      (await call(node.port, '/api/recording?format=perfetto')).body.traceEvents.length,
    ).toBeGreaterThan(3);
    expect(
      (await call(node.port, '/api/recording?format=otlp')).body.resourceSpans[0].scopeSpans[0]
        .spans,
    ).toHaveLength(3);
  });
});
