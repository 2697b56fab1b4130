/** Turn of an actor as a line of a recording: fields that are not known are left out. */

import type { RecordedLine } from '../protocol.ts';

export type TurnOfLine = Extract<RecordedLine, { type: 'turn' }>;

type Known = 'at' | 'node' | 'address' | 'turn' | 'takenAt' | 'event' | 'state';
type Perhaps = 'from' | 'counter' | 'dueAt' | 'did' | 'by' | 'isBare';

export type TurnFacts = Pick<TurnOfLine, Known> & {
  readonly [field in Perhaps]?: TurnOfLine[field] | undefined;
} & { readonly error?: { readonly code: string; readonly message: string } | undefined };

/** Without its context. */
export function turnLineOf(facts: TurnFacts): TurnOfLine {
  const { at, node, address, turn, takenAt, event, state, from, counter, did, error, by } = facts;
  const { dueAt = (event as { dueAt?: unknown }).dueAt } = facts;
  return {
    type: 'turn',
    at,
    node,
    address,
    turn,
    takenAt,
    event,
    ...(facts.isBare && { isBare: true as const }),
    ...(from !== undefined && { from }),
    ...(counter !== undefined && { counter }),
    ...(typeof dueAt === 'number' && { dueAt }),
    state,
    ...(did !== undefined && { did }),
    ...(error !== undefined && { error: { code: error.code, message: error.message } }),
    ...(by !== undefined && { by }),
  };
}
