/**
 * Explanation of one actor for people: its state, what can end it, what it waits for (deadlines, promises,
 * effects, messages to others), what waits for it, and what happened last.
 *
 * Text for a terminal or a test's failure message, never longer than a few screens: of each sort a limited
 * number of lines is shown, and how many more there are.
 */

import type { HistoryRow, Item, Lane, OutboxRow } from '../actor.ts';
import { type Actor, eventType, RUN_AGAIN, stateText } from '../actor.ts';
import { placeOf } from '../base/address.ts';
import type { EffectRetry } from '../effects.ts';
import type { Member } from '../statechart.ts';
import { exitLines } from './explain-exits.ts';

/** Knowledge of the node around the actor. */
export interface ExplainView {
  readonly now: number;
  readonly place: string;
  readonly history: readonly HistoryRow[];
  retryOf(effectId: string): EffectRetry | undefined;
  /** The connected node that hosts a place. */
  hostOf(place: string): string | undefined;
}

/** Lines of one sort, and waiting messages that are named. */
const LINES_MAX = 20;
/** Lines about what can end it. */
const EXITS_MAX = 60;

/** `actor` is undefined when there is none. */
export function explain(address: string, actor: Actor | undefined, view: ExplainView): string {
  if (actor === undefined) return `${address}: there is no such actor.`;
  const lines = [headline(actor)];
  const snapshot = actor.committed;
  if (snapshot !== undefined)
    lines.push(`  context   ${clipped(JSON.stringify(snapshot.context))}`);
  lines.push(...exits(actor, view.now), ...deadlines(actor, view.now), ...children(actor));
  const effects = actor.effects.map(
    ({ id, name }) => `  effect    ${name} is ${progressOf(view.retryOf(id), view.now)} (${id})`,
  );
  lines.push(...bounded(effects, 'effect'));
  const outbox = [...actor.outbox.lanes()].map((lane) => `  outbox    ${waiting(lane, view)}`);
  lines.push(...bounded(outbox, 'outbox'));
  if (actor.mailbox.size > 0) lines.push(`  mailbox   ${arrived([...actor.mailbox])}`);
  lines.push('  history');
  for (const row of view.history) lines.push(`    ${clockTime(row.at)}  ${sentence(row)}`);
  return lines.join('\n');
}

/** Lines for what can end the states that it is in, by its machine and by the charts that it keeps itself. */
function exits(actor: Actor, now: number): string[] {
  const { status, committed, timers, kind } = actor;
  if (status !== 'active' || committed === undefined) return [];
  const dueAt = new Map(timers.rows.map(({ session, id, dueAt }) => [`${session}.${id}`, dueAt]));
  const lines = exitLines(committed, (timer) => {
    const due = dueAt.get(`0.${timer}`);
    return due === undefined ? 'not armed' : `due in ${duration(due - now)} (${clockTime(due)})`;
  });
  const charts = Object.entries(kind.options.charts?.(committed.context) ?? {}).flatMap(
    ([name, chart]) => [
      `  chart     "${name}" is "${stateText(chart.value)}"`,
      ...exitLines(chart).map((line) => `  ${line}`),
    ],
  );
  return [...bounded(lines, 'exit', EXITS_MAX), ...bounded(charts, 'chart', EXITS_MAX)];
}

function deadlines({ timers, tries, status }: Actor, now: number): string[] {
  const lines = timers.rows.map(({ id, dueAt, session, event }) =>
    id === RUN_AGAIN
      ? `  child     ${retried(event, tries.get(session), dueAt - now)}`
      : `  deadline  ${timerName(id)} is due in ${duration(dueAt - now)} (${clockTime(dueAt)})`,
  );
  if (lines.length === 0 && status === 'active')
    return ['  deadline  none: only an event moves it on'];
  return bounded(lines, 'deadline');
}

/** Lines for children. Those that have failed and wait are among the deadlines. */
function children({ tree, timers, status }: Actor): string[] {
  const members = status === 'active' ? (tree?.members() ?? []) : [];
  const pausing = new Set(
    timers.rows.filter(({ id }) => id === RUN_AGAIN).map(({ session }) => session),
  );
  const shown = members.filter(({ session }) => !pausing.has(session));
  return bounded(
    shown.map((member) => `  child     ${named(member)} ${doing(member)}`),
    'child',
  );
}

function named({ path, src }: Member): string {
  return src === undefined || src === path || src.startsWith('xstate.')
    ? `"${path}"`
    : `"${path}" (${src})`;
}

function doing({ actsAlone, value }: Member): string {
  if (actsAlone) return 'runs, and has not ended';
  return value === undefined ? 'is there' : `is "${stateText(value)}"`;
}

function waiting({ to, rows, attempts }: Lane, { place, hostOf }: ExplainView): string {
  const type = clipped((rows[0] as OutboxRow).event.type);
  const what =
    rows.length === 1 ? `"${type}" waits` : `${rows.length} messages, the first "${type}", wait`;
  const tried = attempts === 0 ? '' : `; ${attempts} tries came to nothing`;
  const there = placeOf(to);
  const lost =
    there === place || hostOf(there) !== undefined
      ? ''
      : `; nobody is connected who hosts "${there}"`;
  return `${what} for ${to} to acknowledge${tried}${lost}`;
}

/** Line for what the actor has still to take. */
function arrived(items: readonly Item[]): string {
  const shown = items
    .slice(0, LINES_MAX)
    .map((item) =>
      item.type === 'timersDue' ? 'a deadline' : clipped(eventType(item, undefined)),
    );
  const more = items.length > shown.length ? ` and ${items.length - shown.length} more` : '';
  return `${items.length} to be taken: ${shown.join(', ')}${more}`;
}

function bounded(lines: string[], sort: string, max = LINES_MAX): string[] {
  if (lines.length <= max) return lines;
  return [...lines.slice(0, max), `  ${sort.padEnd(9)} and ${lines.length - max} more`];
}

/** A child that has failed and waits to be run again. */
function retried(
  { child, error }: { readonly type: string; readonly child?: unknown; readonly error?: unknown },
  failed: number | undefined,
  pauseMs: number,
): string {
  return `"${child}" has failed ${failed} times and is run again in ${duration(pauseMs)}: ${clipped(String(error))}`;
}

function progressOf(retry: EffectRetry | undefined, now: number): string {
  if (retry === undefined) return 'under way';
  const { attempt, dueAt, error } = retry;
  return `tried again in ${duration(dueAt - now)}, has failed ${attempt} times: ${clipped(error)}`;
}

function headline({ address, status, state, turns, stopReason }: Actor): string {
  if (status === 'stopped' && stopReason === undefined)
    return `${address} was ended by hand in "${state}" after ${turns} turns`;
  if (status === 'stopped')
    return `${address} was stopped in "${state}" after ${turns} turns: ${stopReason}`;
  if (status === 'done') return `${address} has ended in "${state}" after ${turns} turns`;
  return `${address} is "${state}" after ${turns} turns`;
}

function sentence(row: HistoryRow): string {
  const late =
    row.dueAt === undefined
      ? ''
      : ` (was due ${clockTime(row.dueAt)}, ${row.at - row.dueAt} ms late)`;
  const what = row.dueAt === undefined ? row.event : `deadline ${timerName(row.event)}`;
  const from = row.from === undefined ? '' : ` from ${row.from}`;
  const became = row.state === undefined ? '' : ` → ${row.state}`;
  const did = row.did === undefined ? '' : `; ${row.did.join(', ')}`;
  const failed =
    row.error === undefined ? '' : ` ✗ ${row.error.code}: ${clipped(row.error.message)}`;
  return `${clipped(what)}${from}${late}${clipped(became)}${clipped(did)}${failed}`;
}

/** `xstate.after.limit.order.open` is the delay `limit` of state `order.open`. */
function timerName(id: string): string {
  const [, , delay, ...state] = id.split('.');
  return id.startsWith('xstate.after.') ? `"${delay}" of ${state.join('.')}` : `"${id}"`;
}

/** UTC, to the millisecond, without a date library and without reading a clock. */
function clockTime(at: number): string {
  const days = Math.floor(at / 86_400_000);
  const part = (ms: number, size: number): string =>
    String(Math.floor(((at - days * 86_400_000) / ms) % size)).padStart(2, '0');
  return `${part(3_600_000, 24)}:${part(60_000, 60)}:${part(1_000, 60)}.${String(at % 1_000).padStart(3, '0')}`;
}

function duration(ms: number): string {
  if (ms <= 0) return `0 ms (now)`;
  const units: ReadonlyArray<readonly [string, number]> = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
    ['ms', 1],
  ];
  let rest = ms;
  const parts: string[] = [];
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 && parts.length < 2) parts.push(`${count}${unit}`);
  }
  return parts.join(' ');
}

function clipped(text: string | undefined): string {
  if (text === undefined) return 'undefined';
  return text.length > 160 ? `${text.slice(0, 159)}…` : text;
}
