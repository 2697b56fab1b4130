/**
 * Cache of restored snapshots, by state value: it keeps the part of a restore that depends on
 * nothing else.
 *
 * Most actors at rest are a state value and a context. XState restores the first of each
 * value, with all its checks; for the next one only the context is put in. Snapshots with
 * children, with history, or with references to actors in their context are XState's to
 * restore every time.
 */

import type { AnyMachineSnapshot } from 'xstate';
import { knob } from '../base/knob.ts';
import { marked } from './tables.ts';

/** Different state values that are kept; XState restores those beyond. */
const VALUES_MAX = knob('restoredValuesMax', 1_000);

export class RestoredSnapshots {
  readonly #byValue = new Map<string, AnyMachineSnapshot>();

  recall(stored: {
    readonly snapshot: unknown;
    readonly sessions?: unknown;
  }): AnyMachineSnapshot | undefined {
    const { value, context, ...rest } = stored.snapshot as Record<string, unknown>;
    if (stored.sessions !== undefined || !isEmpty(rest) || !isRecord(context)) return undefined;
    const known = this.#byValue.get(keyOf(value));
    if (known === undefined || JSON.stringify(marked(context as object)).includes('xstate$$type'))
      return undefined;
    return { ...known, context };
  }

  remember(snapshot: AnyMachineSnapshot): void {
    const { status, value, children, historyValue } = snapshot as unknown as {
      readonly status: string;
      readonly value: unknown;
      readonly children: object;
      readonly historyValue: object;
    };
    if (status !== 'active' || !isEmpty(children) || !isEmpty(historyValue)) return;
    if (this.#byValue.size < VALUES_MAX.value)
      this.#byValue.set(keyOf(value), { ...snapshot, context: {} });
  }
}

export function isEmpty(record: object): boolean {
  for (const _ in record) return false;
  return true;
}

function keyOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
