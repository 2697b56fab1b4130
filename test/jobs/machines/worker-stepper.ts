/**
 * A machine under the hand of a test: events go in, and what it sends and asks for is logged.
 *
 * Time moves only by `advance`, which fires each deadline at its own moment. Zero is its spawn.
 */

import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  initialTransition,
  transition,
} from 'xstate';
import type { AddressRef } from '../../../runtime/machine.ts';

export interface Said {
  readonly to: string;
  readonly event: { readonly type: string; readonly [field: string]: unknown };
  readonly isHint: boolean;
}

interface Timer {
  readonly dueAt: number;
  readonly event: { readonly type: string };
}

export class WorkerStepper {
  readonly machine: AnyStateMachine;
  snapshot: AnyMachineSnapshot;
  now = 0;
  #sent: Said[] = [];
  #asked: Array<readonly [string, unknown]> = [];
  readonly #timers = new Map<string, Timer>();

  constructor(machine: AnyStateMachine, input: object) {
    this.machine = machine;
    const [snapshot, actions] = initialTransition(machine, { ...input, at: 0 });
    this.snapshot = snapshot;
    this.#note(actions);
  }

  get value(): unknown {
    return this.snapshot.value;
  }

  /** Takes an event now. */
  take(event: object & { readonly type: string }): this {
    const [snapshot, actions] = transition(this.machine, this.snapshot, {
      ...event,
      at: this.now,
    });
    this.snapshot = snapshot;
    this.#note(actions);
    return this;
  }

  advance(durationMs: number): this {
    const endsAt = this.now + durationMs;
    for (;;) {
      const due = [...this.#timers].sort(([, a], [, b]) => a.dueAt - b.dueAt)[0];
      if (due === undefined || due[1].dueAt > endsAt) break;
      this.#timers.delete(due[0]);
      this.now = due[1].dueAt;
      this.take(due[1].event);
    }
    this.now = endsAt;
    return this;
  }

  /** What was sent since the last look. */
  sent(type?: string): Said[] {
    const all = this.#sent.splice(0);
    return type === undefined ? all : all.filter(({ event }) => event.type === type);
  }

  /** What the process was asked to do since the last look. */
  asked(name?: string): Array<readonly [string, unknown]> {
    const all = this.#asked.splice(0);
    return name === undefined ? all : all.filter(([asked]) => asked === name);
  }

  /** How long until the next deadline whose name has `part` in it. */
  dueIn(part: string): number | undefined {
    const due = [...this.#timers].find(([id]) => id.includes(part));
    return due === undefined ? undefined : due[1].dueAt - this.now;
  }

  #note(actions: ReadonlyArray<{ readonly type: string; readonly params?: unknown }>): void {
    for (const { type, params } of actions) {
      const { delay, id, event, to, sendId } = (params ?? {}) as {
        readonly delay?: number;
        readonly id: string;
        readonly sendId: string;
        readonly event: Said['event'];
        readonly to: AddressRef;
      };
      if (type === 'xstate.raise' && delay !== undefined)
        this.#timers.set(id, { dueAt: this.now + delay, event });
      else if (type === 'xstate.cancel') this.#timers.delete(sendId);
      else if (type === 'xstate.sendTo')
        this.#sent.push({ to: to.address, event, isHint: to.isHint });
      else if (!type.startsWith('xstate.')) this.#asked.push([type, params]);
    }
  }
}
