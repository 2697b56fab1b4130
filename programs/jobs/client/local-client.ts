/**
 * Local client, in the process of a manager or a gate: it asks the jobs service there, over no network.
 *
 * It is for code that answers others in a program's name, such as its HTTP API. It is trusted as the
 * program itself is: its caller has checked who asks, and what. A program that does not host its place
 * now refuses with NOT_HOSTED.
 */

import { jobsServiceAddress } from '../../../machines/jobs/addresses.ts';
import type { Clock } from '../../../runtime/ports/clock.ts';
import type { Random } from '../../../runtime/ports/random.ts';
import { systemClock } from '../../../runtime/system/clock.ts';
import { systemRandom } from '../../../runtime/system/random.ts';
import type { Gate } from '../gate.ts';
import type { Manager } from '../manager.ts';
import { handOver } from '../submission/handed-over.ts';
import type { JobsClient } from './jobs-client.ts';
import { ServiceClient } from './service-client.ts';

export interface LocalClientOptions {
  /** Time for which a question is asked before it is given up with ASK_TIMED_OUT. Default 30,000. */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** Its `stop` does nothing: it ends with the program. */
export function localClient(
  program: Pick<Gate, 'runtime'> | Pick<Manager, 'runtime'>,
  { clock = systemClock(), random = systemRandom(), timeoutMs }: LocalClientOptions = {},
): JobsClient {
  // Both have a jobs service, which is all that is asked.
  const runtime = program.runtime as Manager['runtime'];
  const { place } = runtime;
  const service = runtime.actor(jobsServiceAddress(place));
  return new ServiceClient({
    to: place,
    clock,
    random,
    mayLose: false,
    timeoutMs,
    ask: (question, how) => service.ask(question as never, how),
    handOver: (job) => {
      const name = random.id();
      return { name, release: handOver(runtime, name, job) };
    },
    stop: async () => {},
  });
}
