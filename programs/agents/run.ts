/**
 * `runAgents`: a plan from its file to its document, in this process.
 *
 * It resolves with the document of the run, also of one that failed, is blocked, paused or was interrupted, and
 * rejects for a plan that cannot be run. It installs no signal handlers and prints nothing.
 */

import { orchestrationAddress } from '../../machines/agents/addresses.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { RunDocument } from './documents.ts';
import type { Watcher } from './event-log.ts';
import { Host, type HostOptions, unknownRun, usageOf } from './host.ts';
import { Inbox, type InboxServices } from './inbox.ts';
import { type CodeLimits, settingsOf } from './plan/limits.ts';
import { type Plan, readPlan } from './plan.ts';
import { begunBy, planOf, refuseAltered } from './stored-plan.ts';

/** A run at work, for the code that hosts it. */
export interface Orchestration {
  /**
   * Tells what is left of the context or the session, as a line `usage` of an agent does. It is on disk when this
   * resolves.
   *
   * @throws {RuntimeError} OPTION_INVALID
   */
  reportUsage(usage: ReportedUsage): Promise<void>;
}

export interface ReportedUsage {
  readonly contextRemainingPercent?: number;
  readonly sessionRemainingPercent?: number;
}

export interface RunOptions extends Omit<HostOptions, 'data'>, CodeLimits {
  /** Directory of the data. Default `.escapement`. */
  readonly data?: string;
  /** Stops the run in order when it is aborted; the run can be resumed. */
  readonly signal?: AbortSignal;
  /** Takes the records of the event log, after their commit. */
  readonly onEvent?: Watcher;
  /** Called once the run has begun, or goes on. */
  readonly onBegun?: (orchestration: Orchestration) => void;
  /** Values that go before those of the plan: `AGENT_TIMEOUT=60000`. */
  readonly set?: readonly string[];
  /** Ends when nothing but questions and pauses is left. Default: it waits. */
  readonly exitWhenBlocked?: boolean;
  /** Continues a run that is paused. */
  readonly resume?: boolean;
  /** Begins afresh, though there is a run of that name. */
  readonly isNew?: boolean;
  /** Directory of a plan that is an object. Default: the current one. */
  readonly directory?: string;
}

const DATA = '.escapement';

/** @throws {RuntimeError} AGENT_PLAN_INVALID, OPTION_INVALID, STORE_LOCKED */
export async function runAgents(
  plan: string | object,
  options: RunOptions = {},
): Promise<RunDocument> {
  const set = [...(options.set ?? []), ...settingsOf(options)];
  const read = readPlan(plan, { ...options, set, drivers: Object.keys(options.drivers ?? {}) });
  const host = await Host.open({ ...options, data: options.data ?? DATA });
  try {
    const runId = await startRun(host, read, { ...options, set });
    return await followRun(host, runId, options);
  } finally {
    await host.close();
  }
}

type StartOptions = Pick<RunOptions, 'set' | 'exitWhenBlocked' | 'isNew' | 'onEvent' | 'onBegun'>;

/** Begins the run of a plan, or goes on with it. Gives its id. */
export async function startRun(host: Host, plan: Plan, options: StartOptions): Promise<string> {
  const { stored } = host;
  const before = stored.named(plan.name);
  const runId =
    before === undefined || options.isNew === true
      ? stored.freshId(plan.name)
      : before.context.runId;
  const run = stored.run(runId);
  if (run?.state === 'finished') return runId;
  if (run !== undefined) refuseAltered(stored, run, plan);
  const folder = host.folder(runId);
  folder.make();
  const { file, directory, text } = plan;
  folder.writePlan(text, { file, directory, set: options.set ?? [] });
  host.keepPlan(runId, plan);
  if (run === undefined)
    await host.runtime.spawn(orchestrationAddress(runId), { input: { runId, about: {} } });
  await begin(host, runId, plan, options);
  return runId;
}

/** Goes on with a run by what is stored of it. */
export async function continueRun(host: Host, runId: string, options: StartOptions): Promise<void> {
  const run = host.stored.run(runId);
  if (run === undefined) throw unknownRun(runId);
  if (run.state !== 'finished') await begin(host, runId, planOf(host.folder(runId)), options);
}

async function begin(
  host: Host,
  runId: string,
  plan: Plan,
  { exitWhenBlocked = false, onEvent, onBegun }: StartOptions,
): Promise<void> {
  if (onEvent !== undefined) host.log(runId).watch(onEvent);
  // What humans have said meanwhile comes before anything is begun.
  const inbox = inboxOf(host, runId);
  await inbox.look();
  await inbox.close();
  const run = host.runtime.actor(orchestrationAddress(runId));
  await run.send(begunBy(plan, exitWhenBlocked));
  onBegun?.({
    reportUsage: async ({ contextRemainingPercent, sessionRemainingPercent }) => {
      const reported = { context: contextRemainingPercent, session: sessionRemainingPercent };
      for (const [kind, percent] of Object.entries(reported)) checkPercent(kind, percent);
      for (const [kind, percent] of Object.entries(reported))
        if (percent !== undefined) await run.send(usageOf(kind, percent));
    },
  });
}

function checkPercent(kind: string, percent: number | undefined): void {
  if (percent === undefined || (percent >= 0 && percent <= 100)) return;
  throw new RuntimeError(
    'OPTION_INVALID',
    `${kind}RemainingPercent must be a number from 0 to 100, got ${percent}.`,
  );
}

function inboxOf(host: Host, runId: string): Inbox {
  const { clock, logger } = host;
  const run = host.runtime.actor(orchestrationAddress(runId));
  const send: InboxServices['send'] = (event, id) => run.send(event as never, { id });
  return new Inbox(host.folder(runId), { clock, logger, send });
}

type FollowOptions = Pick<RunOptions, 'signal' | 'resume' | 'exitWhenBlocked'>;

/** Resolves with the document of a run once it has come to an end, or to a rest. */
export async function followRun(
  host: Host,
  runId: string,
  { signal, resume = false, exitWhenBlocked = false }: FollowOptions,
): Promise<RunDocument> {
  if (host.run(runId).state === 'finished') return host.document(runId);
  const run = host.runtime.actor(orchestrationAddress(runId));
  const inbox = inboxOf(host, runId);
  await inbox.look();
  let interrupt = (): void => {};
  let unwatch = (): void => {};
  await new Promise<void>((resolve) => {
    let mayResume = resume;
    let isInterrupted = false;
    const look = (): void => {
      const { state } = host.run(runId);
      if (state === 'paused' && mayResume && !isInterrupted) {
        mayResume = false;
        void run.send({ type: 'session.resumed' }).catch(() => {});
        return;
      }
      const rests = state === 'paused' && (exitWhenBlocked || isInterrupted);
      if (rests || state === 'finished' || state === 'blocked' || state === 'stopped') resolve();
    };
    interrupt = () => {
      isInterrupted = true;
      void run.send({ type: 'run.interrupt' }).then(look, () => {});
    };
    unwatch = host.watch(runId, look);
    signal?.addEventListener('abort', interrupt, { once: true });
    if (signal?.aborted === true) interrupt();
    look();
  });
  signal?.removeEventListener('abort', interrupt);
  unwatch();
  await inbox.close();
  return host.document(runId);
}
