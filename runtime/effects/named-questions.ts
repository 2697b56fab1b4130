/** Finds questions by their addresses: in the event that asks, and in whatever names them afterwards. */

import { isWholeAddress, kindOf } from '../base/address.ts';
import { SPAWN_EVENT } from '../machine.ts';

/** Finds the question that an event asks, or that a spawn is given. */
export function questionIn(event: { readonly type: string }): string | undefined {
  const { replyTo, input } = event as { replyTo?: unknown; input?: { replyTo?: unknown } | null };
  const asked = event.type === SPAWN_EVENT ? input?.replyTo : replyTo;
  if (typeof asked !== 'string' || !asked.startsWith('ask/')) return undefined;
  return isWholeAddress(asked) && kindOf(asked) === 'ask' ? asked : undefined;
}

export function isNamedIn(value: unknown, name: string): boolean {
  return someText(value, (text) => text === name);
}

/** True if any text in a value, however deep, is one that is looked for. */
export function someText(value: unknown, isFound: (text: string) => boolean): boolean {
  if (typeof value === 'string') return isFound(value);
  if (typeof value !== 'object' || value === null) return false;
  const seen = new Set<object>([value]);
  for (const each of seen) {
    for (const part of each instanceof Map || each instanceof Set ? each : Object.values(each)) {
      if (typeof part === 'string' && isFound(part)) return true;
      if (typeof part === 'object' && part !== null) seen.add(part);
    }
  }
  return false;
}
