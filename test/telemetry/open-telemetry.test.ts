/** OpenTelemetry: the metrics under their names, and what is attached when. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createRuntime, type Logger } from '../../index.ts';
import { METRICS, openTelemetry } from '../../telemetry/index.ts';
import { InMemorySdk } from './in-memory-sdk.ts';
import { relay as machine } from './relay.ts';

const kinds = { relay: machine };
let sdk: InMemorySdk;

beforeEach(() => {
  sdk = new InMemorySdk();
});
afterEach(() => sdk.disable());

function logOf(): { readonly logger: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const line = (_: object, message: string): void => void lines.push(message);
  return { lines, logger: { debug: line, info: line, warn: line, error: line } };
}

describe('metrics', () => {
  test('every metric is an instrument with its name, unit and value', async () => {
    sdk.register();
    const runtime = await createRuntime({ node: 'n', place: 'p', kinds });
    await runtime.spawn('relay/1');
    const made = [...sdk.instruments].map(([name, { kind, unit }]) => [name, kind, unit]);
    expect(made).toEqual(METRICS.map(({ name, type, unit }) => [name, type, unit]));
    const seen = await sdk.collect();
    expect(seen.size).toBe(METRICS.filter(({ type }) => type !== 'histogram').length);
    const attributes = { node: 'n', place: 'p' };
    expect(seen.get('escapement_turns_total')).toMatchObject({ value: 1, attributes });
    expect(seen.get('escapement_is_hosting')).toMatchObject({ value: 1, attributes });
    expect(seen.get('escapement_messages_refused_total')).toMatchObject({
      value: 0,
      attributes: { ...attributes, code: expect.stringMatching(/^[A-Z_]+$/) },
    });
    expect(sdk.recorded).toContainEqual({ name: 'escapement_group_turns', value: 1, attributes });
    const bounds = sdk.instruments.get('escapement_commit_duration_milliseconds')?.advice;
    expect(bounds?.explicitBucketBoundaries).toEqual(runtime.metrics().commitDurationMs.bounds);
    await runtime.stop();
  });
});

describe('attaching', () => {
  test.each(['stop', 'crash'] as const)('%s takes everything off', async (way) => {
    sdk.register();
    const runtime = await createRuntime({ kinds });
    await runtime.spawn('relay/1');
    expect(sdk.callbacks.size).toBe(1);
    await runtime[way]();
    expect(sdk.callbacks.size).toBe(0);
    expect((await sdk.collect()).size).toBe(0);
  });

  test('telemetry: false attaches nothing, and by hand it can be had all the same', async () => {
    sdk.register();
    const runtime = await createRuntime({ kinds, telemetry: false });
    await runtime.spawn('relay/1');
    expect(sdk.calls).toBe(0);
    const detach = await openTelemetry(runtime, { metrics: false });
    await runtime.spawn('relay/2');
    expect(sdk.turns()).toHaveLength(1);
    expect(sdk.callbacks.size).toBe(0);
    detach();
    await runtime.spawn('relay/3');
    expect(sdk.turns()).toHaveLength(1);
    await runtime.stop();
  });

  test('only what is registered is attached', async () => {
    sdk.register({ traces: false });
    const runtime = await createRuntime({ kinds });
    await runtime.spawn('relay/1');
    expect(sdk.callbacks.size).toBe(1);
    expect(sdk.spans).toEqual([]);
    await runtime.stop();
  });

  test('a second attachment replaces the first', async () => {
    sdk.register();
    const runtime = await createRuntime({ kinds });
    await openTelemetry(runtime);
    await runtime.spawn('relay/1');
    expect(sdk.turns()).toHaveLength(1);
    expect(sdk.callbacks.size).toBe(1);
    await runtime.stop();
    await openTelemetry(runtime);
    expect(sdk.callbacks.size).toBe(0);
  });

  test('an SDK that throws harms nothing and is reported once', async () => {
    sdk.register();
    const { logger, lines } = logOf();
    const runtime = await createRuntime({ kinds, logger });
    sdk.failure = new Error('the exporter is gone');
    const relay = await runtime.spawn('relay/1');
    await relay.send({ type: 'pass', along: [] });
    await sdk.collect();
    expect(relay.getSnapshot().context.heard).toBe(1);
    expect(lines.filter((line) => line.includes('telemetry failed'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('inspection reader threw'))).toEqual([]);

    sdk.failure = undefined;
    await relay.send({ type: 'pass', along: [] });
    expect(sdk.turns()).toHaveLength(1);
    sdk.failure = new Error('the exporter is gone again');
    await runtime.stop();
  });

  test('an SDK that throws when it is attached stops no runtime from starting', async () => {
    sdk.register();
    sdk.failure = new Error('no instruments today');
    const runtime = await createRuntime({ kinds });
    await runtime.spawn('relay/1');
    expect(runtime.metrics().turns).toBe(1);
    await runtime.stop();
  });
});
