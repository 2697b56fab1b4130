/**
 * One actor in detail: its report, made presentable (deadlines on their transitions, context cut and redacted),
 * and what an event would do to it.
 */

import type { ActorReport, ReportedDeadline } from '../../runtime/api.ts';
import { messageOf, RuntimeError } from '../../runtime/base/errors.ts';
import type { ActorDetail, CanAnswer, ChartDefinition, Deadline, EventForm } from '../protocol.ts';
import { show } from '../shown.ts';
import { descriptorOf, isTakenBy } from '../state-paths.ts';
import { deadlineName, enteredAt, lastTransitions } from '../turn-lines.ts';
import { schemaOf } from './event-schema.ts';
import type { LiveContext } from './live-context.ts';

const EVENTS_MAX = 100;

/** Undefined when there is no such actor here. */
export function actorHere(context: LiveContext, address: string): ActorDetail | undefined {
  const { watch, rules } = context;
  const report = watch.report(address);
  if (report === undefined) return undefined;
  const entry = watch.entry(address);
  const definition = context.definition(report.kind);
  const turns = context.recent.of(address, report.turns);
  const entered = enteredAt(turns, report.active);
  const taken = definition && lastTransitions(turns, definition.chart);
  const deadlines = report.deadlines.map((deadline) =>
    deadlineOf(deadline, report, entered, definition?.chart),
  );
  const dueAt = deadlines.map((deadline) => deadline.dueAt).sort((a, b) => a - b)[0];
  const lastError = turns.findLast(({ error }) => error !== undefined)?.error;
  return {
    ...context.line({
      address,
      kind: report.kind,
      status: report.status,
      isPending: entry?.isPending ?? false,
      state: report.state,
      tags: report.tags,
      dueAt: dueAt ?? null,
      turnAt: report.turnAt,
    }),
    outbox: report.outbox.reduce((sum, { count }) => sum + count, 0),
    ...(lastError !== undefined && { lastError: `${lastError.code}: ${lastError.message}` }),
    turns: report.turns,
    version: report.version,
    ...(definition !== undefined && { definition: definition.chart.hash }),
    active: report.active,
    ...(taken !== undefined && { lastTransitions: taken }),
    enteredAt: entered,
    deadlines,
    exits: report.exits,
    children: report.children,
    effects: report.effects,
    waitingMessages: report.outbox,
    mailbox: report.mailbox.slice(0, 20),
    mailboxSize: report.mailboxSize,
    context: show(report.context, rules),
    ...(report.stopReason !== undefined && { stopReason: report.stopReason }),
    events: eventsOf(context, report, definition?.chart),
  };
}

/** A deadline with the state and the transitions that it belongs to, and when it was armed. */
export function deadlineOf(
  { id, dueAt, delayMs, child }: ReportedDeadline,
  { active }: Pick<ActorReport, 'active'>,
  entered: Readonly<Record<string, number>>,
  chart: ChartDefinition | undefined,
): Deadline {
  const own = child === undefined ? (chart?.transitions ?? []) : [];
  const transitions = own.filter(({ timer, source }) => timer === id && active.includes(source));
  const state = transitions[0]?.source;
  // Without its delay, the state that waits for it was entered at the earliest.
  const armedAt =
    delayMs !== undefined ? dueAt - delayMs : state === undefined ? undefined : entered[state];
  return {
    id,
    name: deadlineName(id, chart),
    ...(state !== undefined && { state }),
    transitions: transitions.map((transition) => transition.id),
    dueAt,
    ...(armedAt !== undefined && armedAt <= dueAt && { armedAt }),
    ...(child !== undefined && { child }),
  };
}

/** Events that may be sent: those that its machine knows, what its present states take first. */
function eventsOf(
  context: LiveContext,
  { kind, active }: ActorReport,
  chart: ChartDefinition | undefined,
): EventForm[] {
  if (chart === undefined) return [];
  const validate = context.watch.kinds().find(({ name }) => name === kind)?.validate ?? {};
  const types = new Map<string, boolean>();
  for (const transition of chart.transitions) {
    const type = descriptorOf(transition);
    if (transition.type !== 'event' || type.includes('*') || type.startsWith('xstate.')) continue;
    types.set(type, types.get(type) === true || active.includes(transition.source));
  }
  return [...types]
    .map(([type, isExpected]) => {
      const schema = schemaOf(validate[type]);
      return { type, isExpected, ...(schema !== undefined && { schema }) };
    })
    .sort((one, other) => Number(other.isExpected) - Number(one.isExpected))
    .slice(0, EVENTS_MAX);
}

/** What an event would do, without sending it. @throws {RuntimeError} EVENT_MALFORMED */
export function canHere(
  context: LiveContext,
  address: string,
  text: string,
): Omit<CanAnswer, 'at'> {
  const event = eventIn(text);
  const chart = context.definition(context.kindOf(address))?.chart;
  const detail = context.watch.report(address);
  if (detail === undefined)
    return { isTaken: false, transitions: [], why: `There is no actor ${address}.` };
  if (detail.status !== 'active')
    return { isTaken: false, transitions: [], why: 'It has ended and takes nothing.' };
  try {
    const enabled = context.watch.enabled(address, event);
    const moves = enabled.filter(({ targets, hasActions }) => targets.length > 0 || hasActions);
    const isKnown = chart?.transitions.some((one) => isTakenBy(one, event.type)) === true;
    return {
      isTaken: moves.length > 0,
      transitions: enabled.map(({ id }) => id),
      ...(moves[0]?.targets[0] !== undefined && { state: moves[0].targets.join(', ') }),
      why: whyOf(moves.length > 0, isKnown, enabled.length > 0),
    };
  } catch (thrown) {
    return { isTaken: false, transitions: [], why: `A guard throws: ${messageOf(thrown)}` };
  }
}

function whyOf(isTaken: boolean, isKnown: boolean, isForbidden: boolean): string {
  if (isTaken) return 'Its guards allow it now.';
  if (isForbidden) return 'The state ignores it on purpose.';
  return isKnown
    ? 'No present state has a transition for it whose guards allow it.'
    : 'Its machine has no transition for it anywhere.';
}

/** @throws {RuntimeError} EVENT_MALFORMED */
function eventIn(text: string): { readonly type: string } {
  try {
    const event: unknown = text.startsWith('{') ? JSON.parse(text) : { type: text };
    if (typeof (event as { type?: unknown }).type === 'string') return event as { type: string };
  } catch {
    // Told below.
  }
  throw new RuntimeError('EVENT_MALFORMED', 'An event is JSON with a "type", or a type alone.');
}
