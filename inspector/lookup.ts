/**
 * Views that need several actors at once: timeline, messages, why. They look actors up one by one, wherever these
 * are, so a live cluster and a recording answer by the same code.
 */

import { budgetBars } from './lane-budget.ts';
import { wholeNumber } from './parameters.ts';
import type {
  ActorsPage,
  ActorsQuery,
  ChartDefinition,
  Lane,
  LaneBar,
  MessageLine,
  MessagesAnswer,
  Missing,
  TimelineAnswer,
  WhyAnswer,
} from './protocol.ts';
import { laneOf, messagesBetween } from './turn-lines.ts';
import { type Evidence, gather, why } from './why.ts';

/** Parameters of a query, as they stand in the URL; a repeated one is a list. */
export type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Lookup {
  now(): number;
  evidence(address: string): Promise<Evidence | undefined>;
  actors(query: ActorsQuery): Promise<ActorsPage>;
  chart(kind: string): ChartDefinition | undefined;
  usual(kind: string): Promise<ReadonlyMap<string, number>>;
  /** Messages of these actors, where they are known by more than turns. */
  messages?(addresses: readonly string[]): readonly MessageLine[] | undefined;
  /** Lanes of nodes and faults. */
  cluster?(): Pick<TimelineAnswer, 'nodes' | 'faults'>;
}

const LANES_MAX = 50;
const MESSAGES_MAX = 2_000;
const ALL = { min: 0, max: Number.MAX_SAFE_INTEGER };

export async function timelineOf(lookup: Lookup, parameters: Parameters): Promise<TimelineAnswer> {
  const { from, to } = rangeOf(parameters);
  const given = listOf(parameters, 'address');
  const page = given.length > 0 ? undefined : await lookup.actors(listed(parameters));
  const addresses = page === undefined ? given : page.rows.map(({ address }) => address);
  const { found, missing } = await lookUp(lookup, addresses.slice(0, LANES_MAX));
  const lanes = found.map((evidence) => {
    const { address, node, state, status, turns, kind } = evidence;
    const last = turns.at(-1);
    const lastAt = last?.trueAt ?? last?.at;
    const ended = status !== 'active' && lastAt !== undefined ? { endedAt: lastAt } : {};
    const aheadMs = (last?.at ?? 0) - (lastAt ?? 0);
    const lane = laneOf({ address, node, state, ...ended }, turns, lookup.chart(kind));
    return {
      ...lane,
      bars: [...lane.bars, ...budgetBars(evidence, lookup.now()).map(earlier(aheadMs))].filter(
        (bar) => bar.from <= to && (bar.to ?? to) >= from,
      ),
      marks: lane.marks.filter(({ at }) => at >= from && at <= to),
    };
  });
  const shown = found.map(({ address }) => address);
  const messages = within(messagesAmong(lookup, shown, found), from, to);
  return {
    at: lookup.now(),
    ...lookup.cluster?.(),
    lanes: parameters.sort === undefined && page !== undefined ? newestFirst(lanes) : lanes,
    messages: messages.slice(-MESSAGES_MAX),
    more: Math.max(0, (page?.total ?? addresses.length) - Math.min(addresses.length, LANES_MAX)),
    ...(page?.isPartial !== undefined && { isPartial: page.isPartial }),
    missing: [...(page?.missing ?? []), ...missing],
  };
}

/** Where nobody asks for an order: those that took a turn last. */
function listed(parameters: Parameters): ActorsQuery {
  const query = { limit: String(LANES_MAX), ...parameters } as ActorsQuery;
  return query.sort === undefined ? { ...query, sort: 'turnAt', order: 'desc' } : query;
}

const newestFirst = (lanes: readonly Lane[]): readonly Lane[] =>
  lanes.toSorted((one, other) => other.since - one.since);

export async function messagesOf(lookup: Lookup, parameters: Parameters): Promise<MessagesAnswer> {
  const { from, to } = rangeOf(parameters);
  const usual = 500;
  const limit = wholeNumber(textOf(parameters, 'limit'), 'limit', {
    min: 1,
    max: MESSAGES_MAX,
    usual,
  });
  const addresses = listOf(parameters, 'address').slice(0, LANES_MAX);
  const { found, missing } = await lookUp(lookup, addresses);
  const all = within(messagesAmong(lookup, addresses, found), from, to);
  return { at: lookup.now(), messages: all.slice(-limit), isCut: all.length > limit, missing };
}

function messagesAmong(
  lookup: Lookup,
  addresses: readonly string[],
  found: readonly Evidence[],
): readonly MessageLine[] {
  return (
    lookup.messages?.(addresses) ??
    messagesBetween(
      found.flatMap(({ turns }) => turns),
      found.flatMap(({ fenced = [] }) => fenced),
    )
  );
}

/** Bars by the clock of a node that was ahead, in true time. */
const earlier =
  (byMs: number) =>
  ({ from, to, ...bar }: LaneBar): LaneBar => ({
    ...bar,
    from: from - byMs,
    ...(to !== undefined && { to: to - byMs }),
  });

/** Undefined where there is no such actor. */
export async function whyOf(lookup: Lookup, address: string): Promise<WhyAnswer | undefined> {
  const subject = await lookup.evidence(address);
  if (subject === undefined) return undefined;
  const usual = await lookup.usual(subject.kind).catch(() => new Map<string, number>());
  const found = await gather(
    address,
    (one) => (one === address ? Promise.resolve(subject) : lookup.evidence(one)),
    {
      at: lookup.now(),
      usual,
    },
  );
  return found === undefined ? undefined : { at: lookup.now(), why: why(found) };
}

async function lookUp(
  lookup: Lookup,
  addresses: readonly string[],
): Promise<{ found: Evidence[]; missing: Missing }> {
  const missing = new Map<string, string>();
  const all = await Promise.all(
    addresses.map(async (address) => {
      try {
        return await lookup.evidence(address);
      } catch (thrown) {
        const place = address.slice(address.lastIndexOf('@') + 1);
        missing.set(place, thrown instanceof Error ? thrown.message : String(thrown));
        return undefined;
      }
    }),
  );
  return {
    found: all.filter((each) => each !== undefined),
    missing: [...missing].map(([node, text]) => ({ node, why: text })),
  };
}

function rangeOf(parameters: Parameters): { from: number; to: number } {
  return {
    from: wholeNumber(textOf(parameters, 'from'), 'from', { ...ALL, usual: 0 }),
    to: wholeNumber(textOf(parameters, 'to'), 'to', { ...ALL, usual: Number.MAX_SAFE_INTEGER }),
  };
}

function within(messages: readonly MessageLine[], from: number, to: number): MessageLine[] {
  return messages.filter(({ sentAt, takenAt, fencedAt }) => {
    const at = takenAt ?? sentAt ?? fencedAt ?? 0;
    return at >= from && at <= to;
  });
}

export function textOf(parameters: Parameters, name: string): string | undefined {
  const value = parameters[name];
  return typeof value === 'string' ? value : value?.[0];
}

export function listOf(parameters: Parameters, name: string): readonly string[] {
  const value = parameters[name];
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}
