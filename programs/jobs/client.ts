/**
 * A client of a datacenter or a gate: submits jobs, looks at them, waits for their end.
 *
 * It is a node of its own, and asks the desk over its transport. In the process of a manager or a
 * gate `localClient` asks without one.
 */

import { createRuntime } from '../../create-runtime.ts';
import { deskAddress } from '../../machines/jobs/addresses.ts';
import { deskMachine } from '../../machines/jobs/desk.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Logger, SILENT_LOGGER } from '../../runtime/options.ts';
import type { Random } from '../../runtime/random.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { systemRandom } from '../../runtime/system-random.ts';
import type { Transport } from '../../runtime/transport.ts';
import { DeskClient, type JobsClient } from './desk-client.ts';
import { JOBS_LIMITS } from './limits.ts';

export type { JobsClient, NewJob, NewWorkflow, WaitOptions } from './desk-client.ts';

export interface ClientOptions {
  /** The datacenter or the gate it speaks to. */
  readonly to: string;
  readonly transport: Transport;
  /** Name of this client among all nodes, the one its transport has joined under. */
  readonly client: string;
  /** How long a question is asked before it is given up with ASK_TIMED_OUT. Default 30,000. */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
  readonly signal?: AbortSignal;
}

/** @throws {RuntimeError} OPTION_INVALID, ABORTED */
export async function connectClient(options: ClientOptions): Promise<JobsClient> {
  const { random = systemRandom(), clock = systemClock(), transport, signal } = options;
  const runtime = await createRuntime({
    node: options.client,
    transport,
    clock,
    random,
    logger: options.logger ?? SILENT_LOGGER,
    limits: JOBS_LIMITS,
    telemetry: false,
    ...(signal !== undefined && { signal }),
  });
  const desk = runtime.register('desk', deskMachine).actor(deskAddress(options.to));
  return new DeskClient({
    to: options.to,
    clock,
    random,
    mayLose: true,
    timeoutMs: options.timeoutMs,
    ask: (question, how) => desk.ask(question as never, how),
    stop: () => runtime.stop(),
  });
}
