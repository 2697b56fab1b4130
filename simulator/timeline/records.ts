/**
 * A history made small enough for a page: lanes, bars, bands, ticks, arrows, and the records themselves.
 *
 * Guarantees: bounded, however long the run was. Lives of nodes, leases and faults are whole; of the
 * rest there is what lies around the violation, and how much was left out is said. Plain groups and
 * frames that arrived are no records here: they show as what they carried.
 */

import {
  deadlineOf,
  nodeName,
  stateName,
  type TurnRecord,
  tell,
  timerName,
  windowAround,
} from '../explanation.ts';
import type { HistoryRecord } from '../history.ts';
import type { RunFacts } from '../invariants.ts';

/** Everything in lists of numbers: thousands of them are in one page. */
export interface TimelineRun {
  readonly nodes: readonly string[];
  /** An actor on a node: its address, the number of its node. */
  readonly lanes: ReadonlyArray<readonly [address: string, node: number]>;
  readonly startMs: number;
  readonly endMs: number;
  /** `lane` and `node` are -1 for what has none. */
  readonly records: ReadonlyArray<
    readonly [index: number, atMs: number, node: number, lane: number, type: string, text: string]
  >;
  readonly states: ReadonlyArray<
    readonly [lane: number, fromMs: number, toMs: number, state: string]
  >;
  readonly lives: ReadonlyArray<
    readonly [node: number, fromMs: number, toMs: number, what: string]
  >;
  readonly leases: ReadonlyArray<
    readonly [node: number, fromMs: number, toMs: number, what: string]
  >;
  readonly faults: ReadonlyArray<
    readonly [id: string, kind: string, fromMs: number, toMs: number, hits: number]
  >;
  /** From where a message left to where it was taken; indexes of the two turns. */
  readonly messages: ReadonlyArray<
    readonly [from: number, fromMs: number, to: number, toMs: number, sent: number, taken: number]
  >;
  readonly timers: ReadonlyArray<readonly [lane: number, dueMs: number, name: string]>;
  readonly leftOut: number;
}

const RECORDS_MAX = 25_000;
const TIMERS_MAX = 10_000;

/** What a page needs to know of a run. */
export interface ShownRun {
  readonly plan: { readonly seed: number };
  readonly history: { readonly records: readonly HistoryRecord[] };
  readonly facts: Pick<RunFacts, 'places'>;
  readonly endedAtMs: number;
}

export function timelineRun(run: ShownRun, aroundIndex: number | null): TimelineRun {
  const { records } = run.history;
  const told = records.filter(isTold);
  const at = aroundIndex === null ? null : told.findIndex(({ index }) => index >= aroundIndex);
  const window = windowAround(told.length, at === -1 ? null : at, RECORDS_MAX);
  const shown = told.slice(window.start, window.end);
  const [first, last] = [shown[0]?.index ?? 0, shown.at(-1)?.index ?? 0];
  const lanes = new Lanes(run);
  const drawing = new Drawing(lanes, run.endedAtMs);
  for (const record of records) {
    const isNear = record.index >= first && record.index <= last;
    if (isNear || isWhole(record)) drawing.take(record);
  }
  const drawn = drawing.end();
  const numbered: TimelineRun['records'] = shown.map((record) => [
    record.index,
    record.atMs,
    lanes.node(record.node),
    laneOf(record, lanes),
    record.type,
    tell(record),
  ]);
  return {
    ...drawn,
    // Clients are met on the way.
    nodes: lanes.nodes.map(nodeName),
    lanes: lanes.lanes,
    startMs: Math.min(0, shown.find(({ atMs }) => atMs >= 0)?.atMs ?? 0),
    endMs: run.endedAtMs,
    records: numbered,
    leftOut: told.length - shown.length,
  };
}

function isTold(record: HistoryRecord): boolean {
  if (record.type === 'timers' || record.type === 'sent') return false;
  if (record.type === 'commit') return record.change !== 'settled';
  if (record.type === 'frame') return record.change !== 'sent' && record.change !== 'delivered';
  return true;
}

/** Hardly ever many, and nothing is understood without them. */
function isWhole({ type }: HistoryRecord): boolean {
  return type === 'node' || type === 'lease' || type === 'fault';
}

function laneOf(record: HistoryRecord, lanes: Lanes): number {
  return record.type === 'turn' || record.type === 'actor'
    ? lanes.lane(record.address, record.node)
    : -1;
}

class Lanes {
  readonly nodes: string[];
  readonly lanes: Array<readonly [string, number]> = [];
  readonly #known = new Map<string, number>();

  constructor({ facts }: ShownRun) {
    this.nodes = Object.keys(facts.places);
  }

  node(name: string): number {
    if (name === '') return -1;
    const at = this.nodes.indexOf(name);
    return at >= 0 ? at : this.nodes.push(name) - 1;
  }

  lane(address: string, node: string): number {
    const key = `${node} ${address}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const lane = this.lanes.push([address, this.node(node)]) - 1;
    this.#known.set(key, lane);
    return lane;
  }
}

interface Open {
  readonly atMs: number;
  readonly what: string;
}

/** Hears the records, and makes of them what has a beginning and an end. */
class Drawing {
  readonly #lanes: Lanes;
  readonly #endMs: number;
  readonly #states: Array<TimelineRun['states'][number]> = [];
  readonly #lives: Array<TimelineRun['lives'][number]> = [];
  readonly #leases: Array<TimelineRun['leases'][number]> = [];
  readonly #faults = new Map<string, [string, string, number, number, number]>();
  readonly #messages: Array<TimelineRun['messages'][number]> = [];
  readonly #timers = new Map<string, TimelineRun['timers'][number]>();
  readonly #state = new Map<number, Open>();
  readonly #life = new Map<number, Open>();
  readonly #lease = new Map<number, Open>();
  readonly #last = new Map<string, TurnRecord>();
  readonly #sent = new Map<string, TurnRecord>();

  constructor(lanes: Lanes, endMs: number) {
    this.#lanes = lanes;
    this.#endMs = endMs;
  }

  take(record: HistoryRecord): void {
    if (record.type === 'turn') this.#turn(record);
    else if (record.type === 'sent') {
      const turn = this.#last.get(record.from);
      if (turn !== undefined) this.#sent.set(`${record.counter} ${record.from}`, turn);
    } else if (record.type === 'timers') this.#armed(record);
    else if (record.type === 'actor' && record.change !== 'born')
      this.#closeState(this.#lanes.lane(record.address, record.node), record.atMs);
    else if (record.type === 'node') this.#lived(record);
    else if (record.type === 'lease') this.#led(record);
    else if (record.type === 'fault') this.#struck(record);
  }

  end(): Pick<TimelineRun, 'states' | 'lives' | 'leases' | 'faults' | 'messages' | 'timers'> {
    const endMs = this.#endMs;
    for (const lane of [...this.#state.keys()]) this.#closeState(lane, endMs);
    for (const node of [...this.#life.keys()]) this.#close(this.#life, this.#lives, node, endMs);
    for (const node of [...this.#lease.keys()]) this.#close(this.#lease, this.#leases, node, endMs);
    return {
      states: this.#states,
      lives: this.#lives,
      leases: this.#leases,
      faults: [...this.#faults.values()].map(([id, kind, from, to, hits]) => [
        id,
        kind,
        from,
        Number.isFinite(to) ? to : endMs,
        hits,
      ]),
      messages: this.#messages,
      timers: [...this.#timers.values()].slice(-TIMERS_MAX),
    };
  }

  #turn(record: TurnRecord): void {
    const { address, node, atMs, from, counter, index } = record;
    const lane = this.#lanes.lane(address, node);
    this.#last.set(address, record);
    const what = stateName(record.state, 60);
    if (this.#state.get(lane)?.what !== what) {
      this.#closeState(lane, atMs);
      this.#state.set(lane, { atMs, what });
    }
    const deadline = deadlineOf(record);
    if (deadline !== undefined)
      this.#timers.set(`${lane} ${deadline} met ${index}`, [lane, atMs, `${deadline} met`]);
    const sender = from === undefined ? undefined : this.#sent.get(`${counter ?? 0} ${from}`);
    if (sender === undefined) return;
    const there = this.#lanes.lane(sender.address, sender.node);
    this.#messages.push([there, sender.atMs, lane, atMs, sender.index, index]);
  }

  /** True time of a deadline, by the clock of the node that has just taken a turn. */
  #armed({ address, node, timers }: Extract<HistoryRecord, { readonly type: 'timers' }>): void {
    const turn = this.#last.get(address);
    if (turn === undefined) return;
    const lane = this.#lanes.lane(address, node);
    for (const { id, dueAt } of timers) {
      const dueMs = turn.atMs + dueAt - turn.takenAt;
      if (dueMs <= this.#endMs)
        this.#timers.set(`${lane} ${id} ${dueAt}`, [lane, dueMs, timerName(id)]);
    }
  }

  #lived({ node, change, life, atMs }: Extract<HistoryRecord, { readonly type: 'node' }>): void {
    const at = this.#lanes.node(node);
    if (change === 'skewed' || change === 'slowed') return;
    this.#close(this.#life, this.#lives, at, atMs);
    if (change === 'started' || change === 'resumed')
      this.#life.set(at, { atMs, what: `life ${life}` });
    else if (change === 'paused') this.#life.set(at, { atMs, what: 'paused' });
    if (change !== 'crashed' && change !== 'stopped') return;
    this.#close(this.#lease, this.#leases, at, atMs);
    for (const [lane, [, host]] of this.#lanes.lanes.entries())
      if (host === at) this.#closeState(lane, atMs);
  }

  #led({
    node,
    change,
    place,
    fence,
    atMs,
  }: Extract<HistoryRecord, { readonly type: 'lease' }>): void {
    const at = this.#lanes.node(node);
    this.#close(this.#lease, this.#leases, at, atMs);
    if (change === 'acquired')
      this.#lease.set(at, { atMs, what: `leads ${place} under fence ${fence}` });
  }

  #struck({ id, kind, change, atMs }: Extract<HistoryRecord, { readonly type: 'fault' }>): void {
    const fault = this.#faults.get(id) ?? [id, kind, atMs, Number.POSITIVE_INFINITY, 0];
    this.#faults.set(id, fault);
    if (change === 'hit') fault[4] += 1;
    if (change === 'ended') fault[3] = atMs;
  }

  #closeState(lane: number, atMs: number): void {
    this.#close(this.#state, this.#states, lane, atMs);
  }

  #close(
    open: Map<number, Open>,
    done: Array<readonly [number, number, number, string]>,
    which: number,
    atMs: number,
  ): void {
    const one = open.get(which);
    open.delete(which);
    if (one !== undefined) done.push([which, one.atMs, atMs, one.what]);
  }
}
