/**
 * Repair sweep: at an interval it compares the deadlines of the actors that are led with those that
 * their states wait for, as they are drawn.
 *
 * It takes no turn, and reads no record of an actor that waits for nothing. What it finds is a fault of the
 * product: it is counted, logged, and mended.
 */

import { idOf } from '../../machines/jobs/addresses.ts';
import type { LogEvent } from '../../machines/jobs/log-events.ts';
import type { Performer, PerformerCall } from '../../runtime/actor.ts';
import { messageOf } from '../../runtime/base/errors.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Cancel, Clock } from '../../runtime/ports/clock.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { Counters } from './counters.ts';
import { type Drawing, drawnDeadlines } from './drawn-deadlines.ts';
import { allRows } from './jobs-service/all-rows.ts';
import { inSlices, RECORD_WEIGHT, type Steps } from './jobs-service/slices.ts';

/** A kind that is swept. */
export interface Swept {
  readonly kind: string;
  readonly machine: { readonly config: unknown };
  /** Label in `job_timeout_checks_total`; left out where it is no check of a job. */
  readonly strategy?: string;
}

export interface Sweeper {
  readonly runtime: Pick<Runtime, 'isHosting' | 'query' | 'waits' | 'rearm'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly counters: Counters;
}

/** Begins to sweep; the returned function ends it. */
export function startSweep(
  program: Sweeper,
  performLog: Performer,
  intervalMs: number,
  kinds: readonly Swept[],
): Cancel {
  const { clock, runtime, logger } = program;
  const note = (params: LogEvent): void => void performLog({ params } as PerformerCall);
  const sweeper = { ...program, runtime, note };
  let cancel: Cancel = () => {};
  const plan = (): void => {
    cancel = clock.schedule(clock.now() + intervalMs, () => {
      plan();
      if (!runtime.isHosting) return;
      inSlices(clock, sweep(sweeper, kinds)).catch((thrown: unknown) =>
        logger.warn({ error: messageOf(thrown) }, 'deadlines could not be looked at'),
      );
    });
  };
  plan();
  return () => cancel();
}

type Noting = Sweeper & { readonly note: (note: LogEvent) => void };

function* sweep(sweeper: Noting, kinds: readonly Swept[]): Steps<void> {
  const { runtime, counters } = sweeper;
  for (const { kind, machine, strategy } of kinds) {
    const drawing = machine.config as Drawing;
    for (const { address, state } of allRows(runtime, { kind, status: 'active' })) {
      // It was deposed while others had their turn.
      if (!runtime.isHosting) return;
      if (strategy !== undefined) counters.add('job_timeout_checks_total', { strategy });
      const isWaiting = drawnDeadlines(drawing, state).size > 0;
      if (isWaiting) repair(sweeper, address, lostDeadlines(sweeper, address, drawing), strategy);
      yield isWaiting ? RECORD_WEIGHT : 1;
    }
  }
}

/** Lost deadlines, by the names of their delays. */
function lostDeadlines({ runtime }: Sweeper, address: string, drawing: Drawing): string[] {
  const waits = runtime.waits(address);
  if (waits === undefined) return [];
  const { state, deadlines } = waits;
  const names = [...drawnDeadlines(drawing, state)];
  return names.filter((name) => !deadlines.includes(name)).map((name) => name.split('.')[2] ?? '');
}

function repair(
  sweeper: Noting,
  address: string,
  lost: readonly string[],
  strategy: string | undefined,
): void {
  if (lost.length === 0) return;
  const { runtime, logger, clock, note } = sweeper;
  const jobId = idOf(address);
  const whose = { actor: address, ...(strategy !== undefined && { jobId }) };
  for (const timer of lost) note({ event: 'timeout.repaired', at: clock.now(), ...whose, timer });
  runtime.rearm(address).catch((thrown: unknown) => {
    logger.warn({ address, error: messageOf(thrown) }, 'a deadline could not be armed again');
  });
}
