/**
 * Messages of the protocol of `@statelyai/inspect` 0.7.2, made of the inspection stream: an actor is announced, takes an
 * event, has a snapshot. Pure.
 *
 * Every durable actor is a root of its own, under its address. Children that live within one are part of its snapshot
 * there and are not told of here.
 */

import type { AnyStateMachine } from 'xstate';
import { kindOf } from '../runtime/base/address.ts';
import type { InspectionRecord } from '../runtime/base/inspection.ts';
import { redacted } from './shown.ts';
import { stateValue } from './state-paths.ts';

const PROTOCOL = '0.7.2';
const CONTEXT_BYTES_MAX = 256 * 1024;

type Status = 'active' | 'done' | 'stopped';

interface Snapshot {
  readonly status: Status;
  readonly value?: unknown;
  readonly context?: unknown;
}

interface Common {
  readonly sessionId: string;
  readonly rootId: string;
  readonly createdAt: string;
  readonly id: string;
  readonly _version: string;
}

export type StatelyMessage = Common &
  (
    | {
        readonly type: '@xstate.actor';
        readonly name: string;
        readonly parentId: undefined;
        readonly definition: string | undefined;
        readonly snapshot: Snapshot;
      }
    | { readonly type: '@xstate.event'; readonly event: unknown; readonly sourceId?: string }
    | { readonly type: '@xstate.snapshot'; readonly event: unknown; readonly snapshot: Snapshot }
  );

export interface StatelyRules {
  readonly machine: (kind: string) => AnyStateMachine | undefined;
  readonly redact?: ((path: string, value: unknown) => unknown) | undefined;
}

export class StatelyMessages {
  readonly #rules: StatelyRules;
  /** Last snapshot of each actor that was announced. */
  readonly #known = new Map<string, Snapshot>();
  #messages = 0;

  constructor(rules: StatelyRules) {
    this.#rules = rules;
  }

  /** Announces every actor again: there is another listener. */
  forget(): void {
    this.#known.clear();
  }

  of(record: InspectionRecord): StatelyMessage[] {
    if (record.type === 'turn') return this.#turn(record);
    if (record.type === 'actor' && record.change !== 'born') return this.#end(record);
    return [];
  }

  #turn(record: Extract<InspectionRecord, { type: 'turn' }>): StatelyMessage[] {
    const { address, at, from, state, error } = record;
    const event = redacted(record.event, this.#rules.redact);
    const snapshot: Snapshot = {
      status: 'active',
      value: stateValue(state),
      context: this.#context(record.context),
    };
    const isSender = from?.includes('@') === true && from.includes('/');
    const messages: StatelyMessage[] = [
      ...this.#announced(address, at, snapshot),
      {
        ...this.#common(address, at),
        type: '@xstate.event',
        event,
        ...(isSender && { sourceId: from }),
      },
    ];
    // A turn that failed leaves the actor as it was.
    if (error !== undefined) return messages;
    this.#known.set(address, snapshot);
    return [
      ...messages,
      { ...this.#common(address, at), type: '@xstate.snapshot', event, snapshot },
    ];
  }

  #end({ address, at, change }: Extract<InspectionRecord, { type: 'actor' }>): StatelyMessage[] {
    const status = change === 'done' ? 'done' : 'stopped';
    const snapshot = { ...this.#known.get(address), status } as const;
    const announced = this.#announced(address, at, snapshot);
    this.#known.delete(address);
    const event = { type: 'xstate.stop' };
    return [
      ...announced,
      { ...this.#common(address, at), type: '@xstate.snapshot', event, snapshot },
    ];
  }

  #announced(address: string, at: number, snapshot: Snapshot): StatelyMessage[] {
    if (this.#known.has(address)) return [];
    this.#known.set(address, snapshot);
    const machine = this.#rules.machine(kindOf(address));
    return [
      {
        ...this.#common(address, at),
        type: '@xstate.actor',
        name: address,
        parentId: undefined,
        definition: machine && JSON.stringify(machine.config, withoutFunctions),
        snapshot,
      },
    ];
  }

  #context(context: unknown): unknown {
    const text = JSON.stringify(context) ?? 'null';
    if (text.length > CONTEXT_BYTES_MAX) return { tooLarge: `${text.length} bytes` };
    return redacted(JSON.parse(text), this.#rules.redact);
  }

  #common(address: string, at: number): Common {
    this.#messages += 1;
    return {
      sessionId: address,
      rootId: address,
      createdAt: String(at),
      id: String(this.#messages),
      _version: PROTOCOL,
    };
  }
}

/** Functions have a name at most. */
function withoutFunctions(_key: string, value: unknown): unknown {
  return typeof value === 'function' ? { type: value.name } : value;
}
