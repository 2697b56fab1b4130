/**
 * Turns of a history as lines, and what follows from them: when states were entered, lanes of a timeline, and
 * messages paired with the turns that took them. Pure.
 */

import type {
  ChartDefinition,
  Lane,
  LaneBar,
  LaneMark,
  MessageLine,
  TurnLine,
} from './protocol.ts';
import { activePaths, takenTransitions } from './state-paths.ts';

/** Row of a history as the store keeps it. */
export interface HistoryLike {
  readonly turn: number;
  readonly at: number;
  readonly event: string;
  readonly dueAt?: number;
  readonly from?: string;
  readonly counter?: number;
  readonly state?: string;
  readonly did?: readonly string[];
  readonly error?: { readonly code: string; readonly message: string };
}

/** Prefix of the name under which a command of the inspector is sent. */
export const COMMAND_SENDER = 'request:inspector:';

export function turnLine(address: string, row: HistoryLike): TurnLine {
  const { turn, at, event, dueAt, from, counter, state, did, error } = row;
  const by = commanderOf(from);
  return {
    address,
    turn,
    at,
    event,
    ...(dueAt !== undefined && { dueAt }),
    ...(from !== undefined && { from }),
    ...(counter !== undefined && { counter }),
    ...(state !== undefined && { state }),
    ...(did !== undefined && { did }),
    ...(error !== undefined && { error: { code: error.code, message: error.message } }),
    ...(by !== undefined && { by }),
  };
}

/** Name of who sent a command: `request:inspector:alice:…`; undefined for other senders. */
export function commanderOf(from: string | undefined): string | undefined {
  if (from?.startsWith(COMMAND_SENDER) !== true) return undefined;
  return from.slice(COMMAND_SENDER.length).split(':')[0] ?? '';
}

/** State before each turn, as far as the rows tell; the first ones may be unknown. */
export function statesBefore(turns: readonly TurnLine[]): ReadonlyArray<string | undefined> {
  let state: string | undefined;
  return turns.map((turn) => {
    const before = state;
    state = turn.state ?? state;
    return before;
  });
}

/** When each active state was entered, by path, as far back as the turns go. */
export function enteredAt(
  turns: readonly TurnLine[],
  active: readonly string[],
): Record<string, number> {
  const entered: Record<string, number> = {};
  let before: ReadonlySet<string> = new Set();
  for (const { at, state } of turns) {
    if (state === undefined) continue;
    const now = activePaths(state);
    for (const path of now) if (!before.has(path)) entered[path] = at;
    before = now;
  }
  const isWhole = turns[0]?.turn === 1;
  const [first] = turns;
  return Object.fromEntries(
    active.flatMap((path) => {
      const at = path === '' && isWhole ? first?.at : entered[path];
      return at === undefined ? [] : [[path, at]];
    }),
  );
}

/** Time that was spent in each state and is over, by path. */
export function dwells(
  turns: readonly TurnLine[],
  show: (path: string, ms: number, endedAt: number) => void,
): void {
  const since = new Map<string, number>();
  for (const { at, state } of turns) {
    if (state === undefined) continue;
    const now = activePaths(state);
    for (const [path, from] of since) {
      if (now.has(path)) continue;
      since.delete(path);
      show(path, at - from, at);
    }
    for (const path of now) if (!since.has(path)) since.set(path, at);
  }
}

/** Name to show of a timer: the delay of `xstate.after.limit.job.running` is `limit`. */
export function deadlineName(id: string, chart?: ChartDefinition): string {
  const known = chart?.transitions.find(({ timer }) => timer === id);
  if (known !== undefined) return known.name;
  if (!id.startsWith('xstate.after.')) return id;
  return id.slice('xstate.after.'.length).split('.')[0] ?? id;
}

export const isDeadlineTurn = ({ event, dueAt }: TurnLine): boolean =>
  dueAt !== undefined || event.startsWith('xstate.after.');

/** When a turn was, on the lanes of a timeline. */
const momentOf = ({ at, trueAt }: TurnLine): number => trueAt ?? at;

/** Lane of an actor: its states as bars, deadlines that have come, turns that stand out. */
export function laneOf(
  actor: {
    readonly address: string;
    readonly node: string;
    readonly state: string;
    readonly endedAt?: number;
  },
  turns: readonly TurnLine[],
  chart?: ChartDefinition,
): Lane {
  const bars: LaneBar[] = [];
  const marks: LaneMark[] = [];
  let open: { state: string; from: number } | undefined;
  for (const turn of turns) {
    if (turn.state !== undefined && turn.state !== open?.state) {
      if (open !== undefined) bars.push(stateBar(open, momentOf(turn)));
      open = { state: turn.state, from: momentOf(turn) };
    }
    const mark = markOf(turn, chart);
    if (mark !== undefined) marks.push(mark);
  }
  const [first] = turns;
  // A history that is shorter than the stay in the present state tells of no change: that it lasts is known all the same.
  if (open === undefined && first !== undefined && actor.state !== '')
    open = { state: actor.state, from: momentOf(first) };
  if (open !== undefined) bars.push(stateBar(open, actor.endedAt));
  const last = turns.at(-1);
  if (actor.endedAt !== undefined && last !== undefined)
    marks.push({ at: actor.endedAt, sort: 'end', label: actor.state, turn: last.turn });
  return {
    address: actor.address,
    node: actor.node,
    state: actor.state,
    bars,
    marks,
    since: first === undefined ? 0 : momentOf(first),
  };
}

function stateBar(
  { state, from }: { state: string; from: number },
  to: number | undefined,
): LaneBar {
  return { sort: 'state', from, label: state, ...(to !== undefined && { to }) };
}

function markOf(turn: TurnLine, chart: ChartDefinition | undefined): LaneMark | undefined {
  const { turn: number, event, error } = turn;
  const at = momentOf(turn);
  if (error !== undefined)
    return { at, sort: 'failed', label: `${event}: ${error.code}`, turn: number };
  // A deadline that changes no state is a rhythm, such as that of reports.
  if (isDeadlineTurn(turn)) {
    const sort = turn.state === undefined ? 'turn' : 'timeout';
    return { at, sort, label: deadlineName(event, chart), turn: number };
  }
  if (/extension|extend/i.test(event)) {
    const isDenied = /denied|refused/i.test(event);
    return { at, sort: isDenied ? 'denied' : 'extension', label: event, turn: number };
  }
  return { at, sort: 'turn', label: event, turn: number };
}

/** Transitions that the last turn took, where the definition alone decides it. */
export function lastTransitions(
  turns: readonly TurnLine[],
  chart: ChartDefinition,
): readonly string[] | undefined {
  const last = turns.at(-1);
  const before = statesBefore(turns).at(-1);
  if (last === undefined || before === undefined) return undefined;
  const after = activePaths(last.state ?? before);
  return last.transitions ?? takenTransitions(chart, activePaths(before), last.event, after);
}

/** `send order.paid to mail/42@A`, `3 × send …`, `hint …`. */
const SENT = /^(?:(\d+) × )?(send|hint|answer) (\S+) to (\S+)$/;

/** A message that a fence kept out. */
export interface FencedMessage {
  readonly at: number;
  readonly from: string;
  readonly counter: number;
  readonly to: string;
  readonly type: string;
}

/** Why a message of a former host is refused. */
export const FENCED = 'refused by a fence: another node had taken over from its sender';

interface Sent {
  readonly line: MessageLine;
}

/**
 * Messages between actors, from both of their histories: a turn says what it sent, a turn says by whose message
 * it was caused. Messages of one sender to one receiver stay in order, so they are paired in order.
 */
export function messagesBetween(
  turns: readonly TurnLine[],
  fenced: readonly FencedMessage[] = [],
): MessageLine[] {
  const sent = new Map<string, Sent[]>();
  const known = new Set(turns.map(({ address }) => address));
  for (const { address, at, turn, did = [] } of turns)
    for (const text of did) {
      const [, times = '1', sort = '', type = '', to = ''] = SENT.exec(text) ?? [];
      if (to === '') continue;
      const lane = sent.get(laneKey(address, to, type)) ?? [];
      sent.set(laneKey(address, to, type), lane);
      const told = sort === 'hint' ? 'hint' : sort === 'answer' ? 'answer' : 'tell';
      const line = {
        from: address,
        to,
        type,
        sort: told,
        sentAt: at,
        sentTurn: turn,
        outcome: 'unknown',
      } as const;
      for (let count = Number(times); count > 0 && lane.length < 10_000; count -= 1)
        lane.push({ line });
    }
  const messages: MessageLine[] = [];
  for (const { address, at, turn, event, from, counter, error } of turns) {
    if (from === undefined || !from.includes('@')) continue;
    const lane = sent.get(laneKey(from, address, event)) ?? [];
    const index = lane.findIndex(({ line }) => (line.sentAt ?? 0) <= at);
    const [pair] = index < 0 ? [] : lane.splice(index, 1);
    const base = pair?.line ?? { from, to: address, type: event, sort: 'tell' as const };
    messages.push({
      ...base,
      ...(counter !== undefined && counter > 0 && { counter }),
      takenAt: at,
      takenTurn: turn,
      outcome: error === undefined ? 'taken' : 'refused',
      ...(error !== undefined && { why: error.message }),
    });
  }
  for (const one of fenced) addFenced(messages, sent, one);
  for (const lane of sent.values())
    for (const { line } of lane)
      messages.push({ ...line, outcome: known.has(line.to) ? 'underWay' : 'unknown' });
  return messages.sort((one, other) => timeOf(one) - timeOf(other));
}

/** A message that was kept out, and sent again by the next host of its sender or not. */
function addFenced(
  messages: MessageLine[],
  sent: ReadonlyMap<string, Sent[]>,
  { at, from, counter, to, type }: FencedMessage,
): void {
  const index = messages.findIndex(
    (each) => counter > 0 && each.counter === counter && each.from === from && each.to === to,
  );
  const taken = messages[index];
  // Sent again to no avail.
  if (taken?.outcome === 'fenced') return;
  if (taken !== undefined) {
    messages[index] = { ...taken, outcome: 'repeated', fencedAt: at, why: FENCED };
    return;
  }
  const pair = sent.get(laneKey(from, to, type))?.shift();
  const base = pair?.line ?? { from, to, type, sort: counter > 0 ? 'tell' : 'hint' };
  const known = counter > 0 ? { counter } : {};
  messages.push({ ...base, ...known, outcome: 'fenced', fencedAt: at, why: FENCED });
}

/** When a message was sent, or the first that is known of it. */
export const timeOf = ({ sentAt, takenAt, fencedAt }: MessageLine): number =>
  sentAt ?? takenAt ?? fencedAt ?? 0;
const laneKey = (from: string, to: string, type: string): string =>
  JSON.stringify([from, to, type]);
