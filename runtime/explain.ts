/**
 * Why an actor is where it is: its state, the deadlines it has, and what happened last,
 * as text for a terminal or a test's failure message.
 */

import type { Actor } from './actor.ts';
import { RUN_AGAIN } from './child-tries.ts';
import type { HistoryRow } from './history.ts';
import type { EffectRetry } from './performers.ts';

/** At most about a screenful. `actor` is undefined when there is none. */
export function explain(
  address: string,
  actor: Actor | undefined,
  history: readonly HistoryRow[],
  now: number,
  retryOf: (effectId: string) => EffectRetry | undefined = () => undefined,
): string {
  if (actor === undefined) return `${address}: there is no such actor.`;
  const lines = [headline(actor)];
  const snapshot = actor.committed;
  if (snapshot !== undefined)
    lines.push(`  context   ${clipped(JSON.stringify(snapshot.context))}`);
  for (const { id, dueAt, session, event } of actor.timers.rows) {
    if (id === RUN_AGAIN) {
      lines.push(`  child     ${retried(event, actor.tries.get(session), dueAt - now)}`);
      continue;
    }
    lines.push(
      `  deadline  ${timerName(id)} is due in ${duration(dueAt - now)} (${clockTime(dueAt)})`,
    );
  }
  if (actor.timers.rows.length === 0 && actor.status === 'active')
    lines.push('  deadline  none: only an event moves it on');
  for (const { id, name } of actor.effects)
    lines.push(`  effect    ${name} is ${progressOf(retryOf(id), now)} (${id})`);
  for (const { to } of actor.outbox.lanes())
    lines.push(`  outbox    waits for ${to} to acknowledge`);
  lines.push('  history');
  for (const row of history) lines.push(`    ${clockTime(row.at)}  ${sentence(row)}`);
  return lines.join('\n');
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
  const failed = row.error === undefined ? '' : ` ✗ ${row.error.code}: ${row.error.message}`;
  return `${what}${from}${late}${became}${did}${failed}`;
}

/** `xstate.after.limit.job.running` is the delay `limit` of state `job.running`. */
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
