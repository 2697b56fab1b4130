/**
 * Facts of the inspection stream as lines of the page.
 */

import type { InspectionRecord } from '../runtime/base/inspection.ts';
import type { MessageLine, TurnLine } from './protocol.ts';
import { type ShowRules, show } from './shown.ts';
import { COMMAND_SENDER } from './turn-lines.ts';

export function turnLineOf(
  record: Extract<InspectionRecord, { type: 'turn' }>,
  rules: ShowRules,
): TurnLine {
  const { address, turn, takenAt, event, from, counter, state, context, error } = record;
  const { dueAt } = event as { dueAt?: unknown };
  const by =
    from?.startsWith(COMMAND_SENDER) === true
      ? from.slice(COMMAND_SENDER.length).split(':')[0]
      : undefined;
  return {
    address,
    turn,
    at: takenAt,
    event: event.type,
    payload: show(event, rules),
    ...(typeof dueAt === 'number' && { dueAt }),
    ...(from !== undefined && { from }),
    ...(counter !== undefined && { counter }),
    state,
    context: show(context, rules),
    ...(error !== undefined && { error: { code: error.code, message: error.message } }),
    ...(by !== undefined && { by }),
  };
}

export function messageLineOf({
  from,
  to,
  counter,
  event,
  at,
}: Extract<InspectionRecord, { type: 'messageSent' }>): MessageLine {
  return { from, to, counter, type: event.type, sort: 'tell', sentAt: at, outcome: 'underWay' };
}
