/** The Prometheus text, read back by a parser that knows nothing of the writer. */

import { expect, test } from 'vitest';
import { setup } from 'xstate';
import { createRuntime } from '../../index.ts';
import type { MetricsSnapshot } from '../../runtime/base/metrics.ts';
import { METRICS, prometheusText } from '../../telemetry/index.ts';
import { parseExposition } from './exposition.ts';

const machine = setup({ types: { events: {} as { type: 'go' } } }).createMachine({
  initial: 'a',
  states: { a: { on: { go: 'b' } }, b: { type: 'final' } },
});

async function busyRuntime(node: string) {
  const runtime = await createRuntime({ node, place: 'shop', kinds: { order: machine } });
  const order = await runtime.spawn('order/secret-42');
  await runtime.spawn('order/secret-43');
  await order.send({ type: 'go' });
  return runtime;
}

test('says every metric, in the format and nothing else', async () => {
  const runtime = await busyRuntime('shop-1');
  const families = parseExposition(prometheusText(runtime));
  expect([...families.keys()]).toEqual(METRICS.map(({ name }) => name));
  const labels = { node: 'shop-1', place: 'shop' };
  const valueNamed = (name: string) => families.get(name)?.samples[0]?.value;
  expect(families.get('escapement_turns_total')?.samples).toEqual([
    { name: 'escapement_turns_total', labels, value: 3 },
  ]);
  expect(valueNamed('escapement_births_total')).toBe(2);
  expect(valueNamed('escapement_ends_total')).toBe(1);
  expect(valueNamed('escapement_is_hosting')).toBe(1);
  const group = families.get('escapement_group_turns')?.samples ?? [];
  expect(group.at(-2)).toEqual({ name: 'escapement_group_turns_sum', labels, value: 3 });
  await runtime.stop();
});

test('names no actor, no matter who chose the names', async () => {
  const runtime = await busyRuntime('shop-1');
  const before = prometheusText(runtime);
  for (let index = 0; index < 100; index += 1) await runtime.spawn(`order/client-${index}`);
  const after = prometheusText(runtime);
  expect(after).not.toMatch(/secret|client/);
  expect(after.split('\n')).toHaveLength(before.split('\n').length);
  for (const { name, samples } of parseExposition(after).values()) {
    const known = name === 'escapement_messages_refused_total' ? ['code'] : [];
    for (const { labels } of samples)
      expect(Object.keys(labels).filter((label) => label !== 'le')).toEqual([
        'node',
        'place',
        ...known,
      ]);
  }
  await runtime.stop();
});

test('tells refusals apart by their code, and knows the usual ones before they happen', async () => {
  const runtime = await busyRuntime('shop-1');
  const refused = () =>
    new Map(
      parseExposition(prometheusText(runtime))
        .get('escapement_messages_refused_total')
        ?.samples.map(({ labels, value }) => [labels['code'], value]),
    );
  expect(refused().get('EVENT_UNDECLARED')).toBe(0);
  const order = runtime.actor('order/secret-43');
  for (const type of ['a', 'b'])
    await expect(order.send({ type } as never)).rejects.toMatchObject({ code: 'EVENT_UNDECLARED' });
  await expect(runtime.actor('order/nobody').send({ type: 'go' })).rejects.toThrow();
  expect(refused().get('EVENT_UNDECLARED')).toBe(2);
  expect(refused().get('ACTOR_UNKNOWN')).toBe(1);
  expect([...refused().values()].reduce((sum, count) => sum + count, 0)).toBe(3);
  await runtime.stop();
});

test('several runtimes of a process share one text', async () => {
  const [first, second] = [await busyRuntime('shop-1'), await busyRuntime('shop-2')];
  const families = parseExposition(prometheusText(first, second));
  const { samples } = families.get('escapement_turns_total') ?? { samples: [] };
  expect(samples.map(({ labels }) => labels['node'])).toEqual(['shop-1', 'shop-2']);
  await first.stop();
  await second.stop();
});

test('escapes what a label may not hold', async () => {
  const runtime = await busyRuntime('shop-1');
  const node = 'a"b\\n\nc\\';
  const snapshot: MetricsSnapshot = { ...runtime.metrics(), node };
  const families = parseExposition(prometheusText({ metrics: () => snapshot }));
  expect(families.get('escapement_turns_total')?.samples[0]?.labels['node']).toBe(node);
  await runtime.stop();
});

test('the parser refuses what the format does not allow', () => {
  const broken = [
    'escapement_turns_total 1\n',
    '# HELP a_total A.\n# TYPE a_total counter\na_total{x="1"} 1',
    '# HELP a_total A.\n# TYPE a_total counter\na_total{x="1"y="2"} 1\n',
    '# HELP a_total A.\n# TYPE a_total counter\na_total{x="\\t"} 1\n',
    '# HELP a_total A.\n# TYPE a_total counter\nb_total 1\n',
    '# HELP a A.\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n',
  ];
  for (const text of broken) expect(() => parseExposition(text), text).toThrow();
});
