/**
 * A node says that it is there when it knows its kinds: what waited for it is taken at once, and no pause of a
 * refused message goes by. Time stands still in these tests, so nothing here is tried twice.
 */

import { expect, onTestFinished, test } from 'vitest';
import { setup } from 'xstate';
import { createRuntime, type RuntimeOptions } from '../../create-runtime.ts';
import { reply } from '../../runtime/machine.ts';
import { SimulatedClock } from '../../simulator/world/clock.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';

const echoMachine = setup({}).createMachine({
  on: { say: { actions: reply(() => 'heard') } },
});

/** A message that was sent before its receiver was there; resolves with its answer. */
async function waited(options: Partial<RuntimeOptions>): Promise<unknown> {
  const network = inProcessNetwork();
  const clock = new SimulatedClock();
  const sender = await createRuntime({ node: 'a', transport: network.join('a'), clock });
  onTestFinished(() => sender.crash());
  const born = sender.spawn('echo/1@b' as never);
  const receiver = await createRuntime({
    ...({ node: 'b', transport: network.join('b'), clock } as const),
    ...(options as object),
  });
  onTestFinished(() => receiver.crash());
  await born;
  return sender.actor('echo/1@b' as never).ask({ type: 'say' } as never);
}

test('a kind that is given at the start is known before the first message', async () => {
  expect(await waited({ kinds: { echo: echoMachine } })).toBe('heard');
});

test('so is one that is registered before the node says that it is there', async () => {
  const prepare: RuntimeOptions['prepare'] = (runtime) =>
    void runtime.register('echo', echoMachine);
  expect(await waited({ prepare })).toBe('heard');
});

test('a node whose preparation fails does not start, and closes what it was given', async () => {
  const network = inProcessNetwork();
  const other = await createRuntime({ node: 'a', transport: network.join('a') });
  onTestFinished(() => other.stop());
  const prepare = (): never => {
    throw new Error('no such machine');
  };
  const starting = createRuntime({ node: 'b', transport: network.join('b'), prepare });
  await expect(starting).rejects.toThrow('no such machine');
  // Its name is free again.
  const next = await createRuntime({ node: 'b', transport: network.join('b') });
  await next.stop();
});
