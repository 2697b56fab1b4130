/**
 * A step that loses, repeats or delays messages between two sides.
 */

import type { Field } from '../../../reading/field.ts';
import { MESSAGE_NAMES } from '../message-names.ts';
import type { Step } from '../plan.ts';
import type { Places } from './places.ts';

export type LinkStep = Omit<Extract<Step, { readonly do: 'link' }>, 'atMs'>;

const COUNT = { min: 1, max: 1_000_000_000 };
const TIMES = { min: 1, max: 1_000 };
const ACTIONS = ['drop', 'duplicate', 'hold'] as const;

export function readLink(field: Field, places: Places): LinkStep | undefined {
  const keys = field.record({ between: true, drop: false, duplicate: false, hold: false });
  if (keys === undefined) return undefined;
  const sides = keys.between?.items().map((side) => places.nodes(side)) ?? [];
  const [one, other] = sides;
  if (keys.between?.isList === true && sides.length !== 2)
    keys.between.wrong('must have two sides');
  const named = ACTIONS.filter((name) => keys[name] !== undefined);
  if (named.length !== 1) return field.wrong('must have one of drop, duplicate, hold');
  const action = readAction(keys);
  if (one === undefined || other === undefined || action === undefined) return undefined;
  return { do: 'link', between: [one, other], ...action };
}

function readAction(
  keys: Readonly<Record<(typeof ACTIONS)[number], Field | undefined>>,
): Pick<LinkStep, 'action' | 'messageType' | 'count'> | undefined {
  if (keys.drop !== undefined) {
    const which = keys.drop.record({ type: false, count: false });
    return which && { action: 'drop', ...readWhich(which) };
  }
  if (keys.duplicate !== undefined) {
    const which = keys.duplicate.record({ type: false, count: false, times: false });
    const times = which?.times?.whole(TIMES) ?? 1;
    return which && { action: { duplicate: times }, ...readWhich(which) };
  }
  const which = keys.hold?.record({ type: false, count: false, for: true });
  const holdMs = which?.for?.duration();
  return which && holdMs !== undefined ? { action: { holdMs }, ...readWhich(which) } : undefined;
}

function readWhich(which: { readonly type: Field | undefined; readonly count: Field | undefined }) {
  const messageType = which.type?.name(MESSAGE_NAMES, 'a message of the jobs system');
  const count = which.count?.whole(COUNT);
  return {
    ...(messageType !== undefined && { messageType }),
    ...(count !== undefined && { count }),
  };
}
