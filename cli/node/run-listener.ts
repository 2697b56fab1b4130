/**
 * Listener of a run of agents or of map-reduce, where somebody asks for one: metrics, the inspector, and the API of a
 * node for its actors and timers. This machine alone may call it.
 */

import { InvalidArgumentError } from 'commander';
import { createHttpHandler } from '../../http/api.ts';
import type { RunsSource } from '../../inspector/runs/source.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { nodeInspector, withInspector } from './inspector.ts';
import { isLoopback, type ListenAddress, parseListen } from './listen-address.ts';
import { openListener } from './listener.ts';

/** Time that requests under way have when the run ends. */
const ANSWERS_MS = 1_000;

export interface ServedRun {
  // biome-ignore lint/suspicious/noExplicitAny: whatever kinds it has.
  readonly runtime: Runtime<any>;
  readonly clock: Clock;
  readonly system: 'agents' | 'mapreduce';
  readonly runs: RunsSource;
  metrics(): string;
}

export interface RunListener {
  readonly url: string;
  close(): Promise<void>;
}

/** @throws {CommandFailure} when the address cannot be had */
export async function listenFor(
  { runtime, clock, system, runs, metrics }: ServedRun,
  address: ListenAddress,
  logger: Logger,
): Promise<RunListener> {
  const pause = (ms: number) =>
    new Promise<void>((resolve) => void clock.schedule(clock.now() + ms, resolve));
  const handler = createHttpHandler({ program: { runtime }, metrics, logger });
  const inspector = nodeInspector({
    runtime: runtime as never,
    api: undefined,
    role: system,
    runs,
    tokens: undefined,
    hosts: undefined,
    logger,
  });
  const options = { tls: undefined, limits: { http: {} }, logger };
  const listener = await openListener(address, options, withInspector(inspector, handler));
  return {
    url: listener.url,
    close: async () => {
      inspector.close();
      await Promise.race([handler.close(), pause(ANSWERS_MS)]);
      await listener.close();
    },
  };
}

export function parseOwnAddress(text: string): ListenAddress {
  const address = parseListen(text);
  if (address !== undefined && isLoopback(address.host)) return address;
  throw new InvalidArgumentError('It must be an address of this machine, such as 127.0.0.1:7400.');
}
