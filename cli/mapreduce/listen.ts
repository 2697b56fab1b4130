/**
 * Listener of a run, where somebody asks for one: metrics, the inspector, and the API of a node for its actors and
 * timers. This machine alone may call it.
 */

import { InvalidArgumentError } from 'commander';
import { createHttpHandler } from '../../http/api.ts';
import type { Host } from '../../programs/mapreduce/host.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import { nodeInspector, withInspector } from '../node/inspector.ts';
import { isLoopback, type ListenAddress, parseListen } from '../node/listen-address.ts';
import { openListener } from '../node/listener.ts';

/** Time that requests under way have when the run ends. */
const ANSWERS_MS = 1_000;

export interface RunListener {
  readonly url: string;
  close(): Promise<void>;
}

/** @throws {CommandFailure} when the address cannot be had */
export async function listenFor(
  host: Host,
  address: ListenAddress,
  logger: Logger,
): Promise<RunListener> {
  const { clock } = host;
  const runtime = host.runtime as never;
  const pause = (ms: number) =>
    new Promise<void>((resolve) => void clock.schedule(clock.now() + ms, resolve));
  const handler = createHttpHandler({
    program: { runtime },
    metrics: () => host.metricsText(),
    logger,
  });
  const inspector = nodeInspector({
    runtime,
    api: undefined,
    role: 'mapreduce',
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
