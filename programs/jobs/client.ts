/**
 * Client of a datacenter or a gate: submits jobs, looks at them, waits for their end.
 *
 * It is a node of its own, and asks the jobs service over a transport that it is given, or over sockets to
 * the addresses that it is given. In the process of a manager or a gate `localClient` asks without.
 */

import { createRuntime } from '../../create-runtime.ts';
import { jobsServiceAddress } from '../../machines/jobs/addresses.ts';
import { jobsServiceMachine } from '../../machines/jobs/jobs-service.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { type Logger, SILENT_LOGGER } from '../../runtime/base/limits.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Random } from '../../runtime/ports/random.ts';
import type { Transport } from '../../runtime/ports/transport.ts';
import { systemClock } from '../../runtime/system/clock.ts';
import { systemRandom } from '../../runtime/system/random.ts';
import type { JobsClient } from './client/jobs-client.ts';
import { DEFAULT_TIMEOUT_MS, ServiceClient } from './client/service-client.ts';
import { openClientSockets, type SocketAddress } from './client/sockets.ts';
import { JOBS_LIMITS } from './limits.ts';

export type {
  JobsClient,
  NewJob,
  NewWorkflow,
  WaitOptions,
} from './client/jobs-client.ts';

interface ClientConduct {
  /** Time for which a question is asked before it is given up with ASK_TIMED_OUT. Default 30,000. */
  readonly timeoutMs?: number;
  /**
   * True when a job that is refused as overload is submitted again, for as long as `timeoutMs` says.
   * Default true.
   */
  readonly waitsForRoom?: boolean;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
  readonly signal?: AbortSignal;
}

/** A client with a transport of its user's. */
export interface ClientByTransport extends ClientConduct {
  /** The datacenter or the gate it speaks to. */
  readonly to: string;
  readonly transport: Transport;
  /** Name of this client among all nodes, the one its transport has joined under. */
  readonly client: string;
  readonly url?: undefined;
}

/** A client that dials nodes itself, for as long as `timeoutMs` says until one lets it in. */
export interface ClientByUrl extends ClientConduct, SocketAddress {
  /** The datacenter or the gate it speaks to. Default: the one of the first node that lets it in. */
  readonly to?: string;
  readonly transport?: undefined;
}

export type ClientOptions = ClientByTransport | ClientByUrl;

/** @throws {RuntimeError} OPTION_INVALID, ABORTED, and by `url` CONNECT_REFUSED, CONNECT_TIMED_OUT */
export async function connectClient(options: ClientOptions): Promise<JobsClient> {
  const { random = systemRandom(), clock = systemClock(), logger = SILENT_LOGGER } = options;
  const { signal, timeoutMs } = options;
  if (signal?.aborted === true) throw new RuntimeError('ABORTED', 'The signal was aborted.');
  const sockets =
    options.url === undefined
      ? undefined
      : await openClientSockets(options, {
          clock,
          ownClock: options.clock,
          random,
          logger,
          timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
          signal,
        });
  const runtime = await createRuntime({
    node: sockets?.node ?? (options.client as string),
    transport: sockets?.transport ?? (options.transport as Transport),
    clock,
    random,
    logger,
    limits: JOBS_LIMITS,
    telemetry: false,
    ...(signal !== undefined && { signal }),
    ...(sockets !== undefined && { inspect: sockets.inspect }),
  });
  const place = await sockets?.connected.catch(async (thrown: unknown) => {
    await runtime.stop();
    throw thrown;
  });
  const to = options.to ?? (place as string);
  const service = runtime.register('desk', jobsServiceMachine).actor(jobsServiceAddress(to));
  return new ServiceClient({
    to,
    clock,
    random,
    mayLose: true,
    waitsForRoom: options.waitsForRoom ?? true,
    timeoutMs,
    ask: (question, how) => service.ask(question as never, how),
    stop: () => runtime.stop(),
  });
}
