/** One signal for many calls. */

import { expect, test } from 'vitest';
import { assign, createMachine } from 'xstate';
import { createRuntime } from '../../index.ts';

test('hundreds of calls may share a signal, without a warning, and end together', async () => {
  const warnings: Error[] = [];
  const warn = (warning: Error): void => void warnings.push(warning);
  process.on('warning', warn);
  await using runtime = await createRuntime();
  const mute = createMachine({
    context: { kept: [] as unknown[] },
    on: {
      question: {
        actions: assign(({ context, event }) => ({ kept: [...context.kept, event['replyTo']] })),
      },
    },
  });
  const actor = await runtime.register('mute', mute).spawn('mute/1');
  const service = new AbortController();
  const { signal } = service;
  const asked = Array.from({ length: 300 }, () =>
    actor
      .ask({ type: 'question' } as never, { signal, timeoutMs: 120_000 })
      .catch((thrown) => thrown.code),
  );
  const sent = Array.from({ length: 300 }, () => actor.send({ type: 'question' }, { signal }));
  await Promise.all(sent);
  service.abort();
  expect(new Set(await Promise.all(asked))).toEqual(new Set(['ABORTED']));
  // Node tells of warnings only when no promise has anything left to do.
  await new Promise(setImmediate);
  process.off('warning', warn);
  expect(warnings).toEqual([]);
});
