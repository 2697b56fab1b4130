/**
 * Chain of turns that led to the last one: its cause, the turn that sent that message, the cause of that turn, and
 * on, across actors, as far as their histories go.
 */

import type { ChainLine, TurnLine } from '../protocol.ts';
import { stateValue } from '../state-paths.ts';
import { deadlineName, isDeadlineTurn } from '../turn-lines.ts';
import type { WhyCase } from './evidence.ts';
import { shortAddress, spanText } from './words.ts';

const STEPS_MAX = 12;

/** The last one last. `last`: the turn that is explained. */
export function chainOf({ subject, related }: WhyCase, last: TurnLine | undefined): ChainLine[] {
  const turnsOf = (address: string): readonly TurnLine[] =>
    address === subject.address ? subject.turns : (related.get(address)?.turns ?? []);
  const chain: ChainLine[] = [];
  const seen = new Set<TurnLine>();
  let turn = last;
  while (turn !== undefined && chain.length < STEPS_MAX && !seen.has(turn)) {
    seen.add(turn);
    const { from } = turn;
    const sender = from?.includes('/') === true ? sentBefore(turnsOf(from), turn) : undefined;
    chain.unshift(lineOf(turn, sender));
    if (sender !== undefined) turn = sender;
    else if (isDeadlineTurn(turn)) turn = armedBefore(turnsOf(turn.address), turn);
    else turn = undefined;
  }
  return chain;
}

/** The sender's turn that the message of this turn came from. */
function sentBefore(
  turns: readonly TurnLine[],
  { address, event, at }: TurnLine,
): TurnLine | undefined {
  const ending = `send ${event} to ${address}`;
  return turns.findLast(
    (turn) =>
      turn.at <= at &&
      turn.did?.some((text) => text.endsWith(ending) || text === `hint ${event} to ${address}`) ===
        true,
  );
}

/** The last turn before a deadline came that may have armed it: the one before in its actor. */
function armedBefore(turns: readonly TurnLine[], { turn }: TurnLine): TurnLine | undefined {
  return turns.findLast((each) => each.turn < turn);
}

/** Path down to where regions begin: which of them changed is in the turn. */
function outerState(state: string): string {
  const path: string[] = [];
  for (let value = stateValue(state); ; ) {
    if (typeof value === 'string') return [...path, value].join('.');
    const inner = Object.entries(value ?? {});
    const [only] = inner;
    if (inner.length !== 1 || only === undefined)
      return path.length > 0 ? path.join('.') : inner.map(([key]) => key).join(', ');
    path.push(only[0]);
    value = only[1];
  }
}

function lineOf(turn: TurnLine, sender: TurnLine | undefined): ChainLine {
  const { at, address, event, from, dueAt, state, error } = turn;
  const what = isDeadlineTurn(turn)
    ? `its deadline ${deadlineName(event)}${dueAt === undefined ? '' : `, ${spanText(at - dueAt)} after it was due`}`
    : event;
  const by = from === undefined ? '' : ` from ${shortAddress(from)}`;
  const became = state === undefined ? '' : ` → ${outerState(state)}`;
  const failed = error === undefined ? '' : ` failed: ${error.code}`;
  return {
    at,
    address,
    turn: turn.turn,
    text: `${shortAddress(address)} took ${what}${by}${failed}${became}`,
    ...(from !== undefined &&
      sender !== undefined && {
        message: {
          from,
          to: address,
          type: event,
          sort: 'tell' as const,
          sentAt: sender.at,
          sentTurn: sender.turn,
          takenAt: at,
          takenTurn: turn.turn,
          outcome: 'taken' as const,
        },
      }),
  };
}
