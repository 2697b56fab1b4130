/**
 * Explanation of an actor of any machine: which of its deadlines or events ended it, and what it waits for.
 */

import type { BudgetLine, TurnLine } from '../protocol.ts';
import { deadlineName, isDeadlineTurn } from '../turn-lines.ts';
import type { WhyCase } from './evidence.ts';
import type { JobFindings } from './job.ts';
import { clockText, listText, shortAddress, spanText } from './words.ts';

export function whyMachine(found: WhyCase): JobFindings {
  const { subject } = found;
  const name = shortAddress(subject.address);
  if (subject.status === 'active') return alive(found, name);
  const last = subject.turns.findLast(({ state }) => state !== undefined) ?? subject.turns.at(-1);
  const endedAt = last?.at ?? subject.turnAt;
  if (subject.status === 'stopped') {
    if (subject.stopReason === undefined)
      return {
        cause: 'endedByHand',
        endedAt,
        verdict: `${name} was ended by hand in "${subject.state}".`,
        advice: ['Ask who ended it: the turn says by whom where it came through the inspector.'],
      };
    return {
      cause: 'stopped',
      endedAt,
      reason: subject.stopReason,
      verdict: `${name} was stopped in "${subject.state}" after a failure: ${subject.stopReason}.`,
      advice: [
        'Mend what throws, then revive it: it goes on in the state in which it was stopped.',
      ],
    };
  }
  const deadline = decidingDeadline(subject.turns);
  if (deadline !== undefined) return byDeadline(found, name, deadline, endedAt);
  return {
    cause: 'completed',
    endedAt,
    verdict: `${name} came to its own end in "${subject.state}"${last === undefined ? '' : `, by ${last.event}`}.`,
    advice: [],
  };
}

/**
 * The deadline that took an ended actor out of its last lasting state: the last turn that changed the state, or one
 * before it without a pause.
 */
function decidingDeadline(turns: readonly TurnLine[]): TurnLine | undefined {
  const last = turns.findLast(({ state }) => state !== undefined);
  if (last === undefined) return undefined;
  return isDeadlineTurn(last) ? last : undefined;
}

function byDeadline(
  { subject, related }: WhyCase,
  name: string,
  turn: TurnLine,
  endedAt: number,
): JobFindings {
  const delay = deadlineName(turn.event);
  const before = subject.turns.findLast(
    (each) => each.turn < turn.turn && each.state !== undefined,
  );
  const state = before?.state ?? 'its state';
  const heard = subject.turns.findLast((each) => each.turn < turn.turn);
  const armedAt = before?.at;
  const limitMs =
    armedAt === undefined || turn.dueAt === undefined ? undefined : turn.dueAt - armedAt;
  const budget: BudgetLine[] =
    limitMs === undefined || armedAt === undefined
      ? []
      : [
          {
            at: armedAt,
            sort: 'base',
            ms: limitMs,
            text: `${delay} of "${state}": ${spanText(limitMs)} from ${clockText(armedAt)}`,
          },
        ];
  const late = lateMessage(subject.address, related, endedAt);
  return {
    cause: 'deadline',
    reason: delay,
    endedAt,
    verdict: `${name} ended in "${subject.state}" because deadline "${delay}" of "${state}" came${limitMs === undefined ? '' : ` after ${spanText(limitMs)}`}, and nothing ended that state before.`,
    budget,
    ...(limitMs !== undefined && { budgetMs: limitMs, usedMs: endedAt - (armedAt ?? endedAt) }),
    silent:
      heard === undefined
        ? []
        : [
            {
              who: heard.from ?? subject.address,
              since: heard.at,
              ms: turn.at - heard.at,
              text: `nothing came for ${spanText(turn.at - heard.at)}; the last was ${heard.event}${heard.from === undefined ? '' : ` from ${shortAddress(heard.from)}`}`,
            },
          ],
    ...(late !== undefined && {
      moreTime: `${late.type} was sent to it by ${shortAddress(late.from)} ${spanText(late.at - endedAt)} after the end.`,
    }),
    advice: [
      late === undefined
        ? `Find out what should have ended "${state}", or give "${delay}" more time.`
        : `Give "${delay}" at least ${spanText((limitMs ?? 0) + late.at - endedAt)}.`,
    ],
  };
}

/** The first message that others sent to it after its end. */
function lateMessage(
  address: string,
  related: WhyCase['related'],
  endedAt: number,
): { readonly type: string; readonly from: string; readonly at: number } | undefined {
  const found = [...related.values()].flatMap(({ turns, address: from }) =>
    turns.flatMap(({ at, did = [] }) =>
      at <= endedAt
        ? []
        : did.flatMap((text) => {
            const [, type, to] = /^(?:\d+ × )?(?:send|hint) (\S+) to (\S+)$/.exec(text) ?? [];
            return to === address && type !== undefined ? [{ type, from, at }] : [];
          }),
    ),
  );
  return found.sort((one, other) => one.at - other.at)[0];
}

function alive({ subject, at }: WhyCase, name: string): JobFindings {
  const [next] = subject.deadlines.toSorted((one, other) => one.dueAt - other.dueAt);
  const events = [
    ...new Set(subject.exits.filter(({ timer }) => timer === undefined).map(({ cause }) => cause)),
  ];
  const due =
    next === undefined
      ? 'no deadline is armed'
      : next.dueAt <= at
        ? `deadline "${next.name}" is ${spanText(at - next.dueAt)} overdue`
        : `deadline "${next.name}" comes in ${spanText(next.dueAt - at)} (${clockText(next.dueAt)})`;
  const waits = events.length === 0 ? '' : `; it waits for ${listText(events)}`;
  const isOverdue = next !== undefined && next.dueAt <= at;
  return {
    cause: 'alive',
    verdict: `${name} is "${subject.state}" since ${clockText(subject.turnAt)}: ${due}${waits}.`,
    advice: isOverdue
      ? [
          'A deadline that is overdue for long: look at the load of its node, and whether anybody hosts its place.',
        ]
      : [],
  };
}
