/**
 * Timer table: the deadlines of one actor, in the order in which they were armed.
 *
 * They live in the actor's record: a deadline that is not in this table does not
 * exist, however many wake-ups were planned for it, so a replaced or cancelled one
 * can never fire. A few rows per actor: a plain array beats every index.
 */

import type { ArmEffect, Effect } from '../statechart.ts';

export interface TimerRow {
  readonly session: number;
  readonly id: string;
  readonly dueAt: number;
  readonly event: { readonly type: string };
  readonly target: number;
  readonly to: string | undefined;
  readonly isHint: boolean;
  /** The row as the record has it, once it was encoded. */
  text?: string;
}

export class TimerTable {
  readonly rows: TimerRow[];

  constructor(rows: TimerRow[] = []) {
    this.rows = rows;
  }

  /** Applies what a turn asked for; true when the effect was one about timers. */
  apply(effect: Effect, at: number): boolean {
    switch (effect.type) {
      case 'arm':
        this.#remove(effect.session, effect.id);
        this.rows.push(rowOf(effect, at));
        return true;
      case 'cancel':
        this.#remove(effect.session, effect.id);
        return true;
      case 'cancelAll':
        for (let index = this.rows.length - 1; index >= 0; index -= 1) {
          if (this.rows[index]?.session === effect.session) this.rows.splice(index, 1);
        }
        return true;
      default:
        return false;
    }
  }

  /** Arms a deadline for another moment, that of the actor before those of its children; false where there is none. */
  move(id: string, dueAt: number): boolean {
    const found = this.rows
      .filter((row) => row.id === id)
      .sort((one, other) => one.session - other.session)[0];
    if (found === undefined) return false;
    const { text: _, ...row } = found;
    this.rows[this.rows.indexOf(found)] = { ...row, dueAt };
    return true;
  }

  /** Moment when the next deadline is due; null without any. */
  nextDueAt(): number | null {
    return this.earliest()?.dueAt ?? null;
  }

  /** The deadline that comes first, of equals the one armed first. */
  earliest(): TimerRow | undefined {
    let found: TimerRow | undefined;
    for (const row of this.rows) if (found === undefined || row.dueAt < found.dueAt) found = row;
    return found;
  }

  /** Takes out the earliest deadline, where it has come. */
  takeDue(at: number): TimerRow | undefined {
    const found = this.earliest();
    if (found === undefined || found.dueAt > at) return undefined;
    return this.rows.splice(this.rows.indexOf(found), 1)[0];
  }

  #remove(session: number, id: string): void {
    for (let index = 0; index < this.rows.length; index += 1) {
      const row = this.rows[index] as TimerRow;
      if (row.id === id && row.session === session) {
        this.rows.splice(index, 1);
        return;
      }
    }
  }
}

function rowOf(effect: ArmEffect, at: number): TimerRow {
  const { session, id, event, delayMs, target, to, isHint } = effect;
  return { session, id, dueAt: at + Math.ceil(delayMs), event, target, to, isHint };
}
