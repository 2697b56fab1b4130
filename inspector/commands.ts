/**
 * Commands of a page, carried out: an event is sent under a name that says who asked, so it stands in the history of
 * its actor; orders stand in the log. The machine decides: taken, ignored, or refused and why.
 */

import { placeOf, wholeAddress } from '../runtime/base/address.ts';
import { messageOf, RuntimeError } from '../runtime/base/errors.ts';
import type { Viewer } from './access.ts';
import type { LiveContext } from './live/live-context.ts';
import type { Command, CommandAnswer } from './protocol.ts';
import type { RunsSource } from './runs/source.ts';

/** Orders about jobs, under the name of who asked; they throw the reason why not. */
export interface JobOrders {
  cancel(jobId: string, reason: string, who: string): Promise<string>;
  extend(jobId: string, byMs: number, reason: string, who: string): Promise<string>;
}

export interface CommandParts {
  readonly context: LiveContext;
  readonly jobs: JobOrders | undefined;
  readonly runs: RunsSource | undefined;
  /** True in test environments. */
  readonly movesDeadlines: boolean;
  /** Begins or ends recording; answers what is recorded now. */
  record(command: Extract<Command, { type: 'record' | 'stopRecording' }>): string;
  newId(): string;
}

type Outcome = Omit<CommandAnswer, 'at'>;

const ASK_MS_MAX = 30_000;
const SEND_MS = 10_000;

/** Kinds of the jobs system decide by messages of each other: nobody else speaks to them. */
const JOB_KINDS =
  /^(?:job|gate-job|workflow|worker-health|worker-pool|submission-page|desk|attempt|worker)\//;

export async function carryOut(
  parts: CommandParts,
  command: Command,
  viewer: Viewer,
): Promise<CommandAnswer> {
  const { context } = parts;
  const { logger } = context.watch;
  const about = 'address' in command ? command.address : 'id' in command ? command.id : undefined;
  let outcome: Outcome;
  try {
    outcome = await OUTCOMES[command.type](parts, command as never, viewer);
  } catch (thrown) {
    outcome = refused(thrown);
    if (!(thrown instanceof RuntimeError))
      logger.error(
        { command: command.type, error: messageOf(thrown), stack: stackOf(thrown) },
        'a command of the inspector failed',
      );
  }
  const fields = {
    event: 'inspector.command',
    command: command.type,
    about,
    who: viewer.name,
    outcome: outcome.outcome,
    why: outcome.why,
  };
  logger.info(fields, 'a command came through the inspector');
  return { at: context.now(), ...outcome };
}

type Of<TType extends Command['type']> = Extract<Command, { type: TType }>;
type Carry<TType extends Command['type']> = (
  parts: CommandParts,
  command: Of<TType>,
  viewer: Viewer,
) => Promise<Outcome> | Outcome;

const OUTCOMES: { readonly [TType in Command['type']]: Carry<TType> } = {
  send: (parts, command, viewer) => send(parts, command, viewer),
  ask,
  extend: async ({ jobs, runs }, { address, byMs, reason }, { name }) =>
    taken(
      runs?.extend !== undefined
        ? await runs.extend(address, byMs, name)
        : await jobsOf(jobs).extend(jobIdIn(address), byMs, reason, name),
    ),
  cancel: async ({ jobs }, { address, reason }, { name }) =>
    taken(await jobsOf(jobs).cancel(jobIdIn(address), reason, name)),
  answer: async ({ runs }, { question, answer, texts, limitMs }, { name }) => {
    if (runs?.answer === undefined) return no('Nothing is asked of humans here.');
    const given = {
      ...{ question, answer },
      ...(texts !== undefined && { texts }),
      ...(limitMs !== undefined && { limitMs }),
    };
    return taken(await runs.answer(given, name));
  },
  changeDeadline: (parts, { address, deadline, dueAt }) => move(parts, address, deadline, dueAt),
  fireNow: (parts, { address, deadline }) => move(parts, address, deadline, parts.context.now()),
  retryLetter: async ({ context }, { id, node }) => {
    checkNode(context, node);
    await context.runtime.retryUndelivered(id);
    return taken('It was delivered again, and is off the list.');
  },
  dropLetter: async ({ context }, { id, node }) => {
    checkNode(context, node);
    await context.runtime.dropUndelivered(id);
    return taken('It is off the list.');
  },
  revive: async ({ context }, { address }) => {
    checkHere(context, address);
    await context.runtime.revive(address);
    return taken('It is active again, in the state in which it was stopped.');
  },
  end: async ({ context }, { address }) => {
    checkHere(context, address);
    await context.runtime.end(address);
    return taken('It has ended; what it had sent is delivered.');
  },
  record: (parts, command) => taken(parts.record(command)),
  stopRecording: (parts, command) => taken(parts.record(command)),
  fault: () => no('There are no faults to inject here: this is for the demo.'),
};

/** Reason why deadlines are not moved, shown where the buttons for it stand. */
export const WHY_NOT_MOVED =
  'Deadlines come by the clock. In a test environment they may be moved: inspector: { deadlines: true }.';

async function move(
  { context, movesDeadlines }: CommandParts,
  address: string,
  deadline: string,
  dueAt: number,
): Promise<Outcome> {
  if (!movesDeadlines) return no(WHY_NOT_MOVED);
  const whole = wholeAddress(address, context.runtime.place);
  checkOwn(whole);
  checkHere(context, whole);
  await context.watch.moveDeadline(whole, deadline, dueAt);
  const isPast = dueAt <= context.now();
  return taken(isPast ? 'It comes now.' : 'It is armed for that moment, durably.');
}

async function send(
  { context, newId }: CommandParts,
  { address, event }: Of<'send'>,
  viewer: Viewer,
): Promise<Outcome> {
  const whole = wholeAddress(address, context.runtime.place);
  checkEvent(event, whole);
  const isHere = context.isHere(whole);
  const moves = isHere ? context.watch.enabled(whole, event).length > 0 : undefined;
  const id = `inspector:${viewer.name}:${newId()}`;
  await context.runtime.actor(whole as never).send(event as never, { id, timeoutMs: SEND_MS });
  const state = isHere ? context.watch.entry(whole)?.state : undefined;
  const turn = isHere ? context.watch.report(whole)?.turns : undefined;
  const after = { ...(state !== undefined && { state }), ...(turn !== undefined && { turn }) };
  if (moves === false) {
    const why =
      'No present state has a transition for it whose guards allow it; it changed nothing.';
    return { outcome: 'ignored', why, ...after };
  }
  return { ...taken(isHere ? 'A transition took it.' : 'It is durable at its node.'), ...after };
}

async function ask(
  { context }: CommandParts,
  { address, event, timeoutMs = 5_000 }: Of<'ask'>,
): Promise<Outcome> {
  const whole = wholeAddress(address, context.runtime.place);
  checkEvent(event, whole);
  const limitMs = Math.min(ASK_MS_MAX, Math.max(1, Math.floor(timeoutMs)));
  const reply = await context.runtime
    .actor(whole as never)
    .ask(event as never, { timeoutMs: limitMs });
  return { ...taken('It has answered.'), reply };
}

/** @throws {RuntimeError} EVENT_MALFORMED, NOT_ALLOWED */
function checkEvent(event: unknown, address: string): void {
  const { type } = (event ?? {}) as { type?: unknown };
  if (typeof event !== 'object' || typeof type !== 'string')
    throw new RuntimeError('EVENT_MALFORMED', 'An event is an object with a "type".');
  if ('replyTo' in (event as object))
    throw new RuntimeError(
      'EVENT_MALFORMED',
      'Answers go to questions of the runtime itself: no "replyTo".',
    );
  checkOwn(address);
}

/** @throws {RuntimeError} NOT_ALLOWED of actors of the jobs system */
function checkOwn(address: string): void {
  if (JOB_KINDS.test(address))
    throw new RuntimeError(
      'NOT_ALLOWED',
      'Actors of the jobs system take nothing from outside: extend or cancel the job.',
    );
}

function jobsOf(jobs: JobOrders | undefined): JobOrders {
  if (jobs !== undefined) return jobs;
  throw new RuntimeError(
    'NOT_ALLOWED',
    'There are no jobs at this node: open the inspector of a gate or a manager.',
  );
}

function jobIdIn(address: string): string {
  const [, jobId] = /^(?:gate-)?job\/([^@]+)/.exec(address) ?? [];
  if (jobId !== undefined) return jobId;
  throw new RuntimeError('OPTION_INVALID', `${address} is no job.`);
}

function checkNode({ node }: LiveContext, wanted: string): void {
  if (wanted === node) return;
  throw new RuntimeError(
    'NOT_HOSTED',
    `Open the inspector of "${wanted}" for that: letters are its own.`,
  );
}

function checkHere(context: LiveContext, address: string): void {
  if (context.isHere(wholeAddress(address, context.runtime.place))) return;
  throw new RuntimeError(
    'NOT_HOSTED',
    `Open the inspector of a node of "${placeOf(address)}" for that.`,
  );
}

const stackOf = (thrown: unknown) => (thrown instanceof Error ? thrown.stack : undefined);
const taken = (why: string): Outcome => ({ outcome: 'taken', why });
const no = (why: string): Outcome => ({ outcome: 'refused', why, code: 'NOT_ALLOWED' });

function refused(thrown: unknown): Outcome {
  const isOwn = thrown instanceof RuntimeError;
  return {
    outcome: 'refused',
    why: messageOf(thrown),
    ...(isOwn && { code: thrown.code, isRetryable: thrown.retryable }),
  };
}
