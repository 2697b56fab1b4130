/**
 * A recording that is read: every actor in it as evidence, at its last recorded turn. Pure and safe in a browser, so
 * that the page in a single file answers its own questions by it.
 *
 * What can end an actor next is read from the definition in the recording, by the same rules as of a living one.
 */

import type {
  ActorExit,
  ChartDefinition,
  Deadline,
  RecordedFailure,
  RecordedHeader,
  RecordedLine,
  RecordedOther,
  RunLine,
  ToldLine,
  TurnLine,
  UndeliveredLine,
} from '../protocol.ts';
import { RECORDING_VERSION } from '../protocol.ts';
import { show } from '../shown.ts';
import { activePaths } from '../state-paths.ts';
import { deadlineName, enteredAt } from '../turn-lines.ts';
import type { Evidence } from '../why.ts';
import { exitsOfChart } from './exits.ts';
import { patched } from './patch.ts';
import { RecordedCluster } from './recorded-cluster.ts';
import { RecordedMessages } from './recorded-messages.ts';

type Of<TType extends RecordedLine['type']> = Extract<RecordedLine, { type: TType }>;

export interface RecordedActor {
  readonly address: string;
  readonly kind: string;
  readonly node: string;
  status: 'active' | 'done' | 'stopped';
  state: string;
  turnAt: number;
  context: unknown;
  timers: ReadonlyArray<{ readonly id: string; readonly dueAt: number }>;
  readonly turns: TurnLine[];
  /** Of each turn its event whole and the context after it, where they were recorded. */
  readonly wholes: Array<{ readonly event: unknown; readonly context: unknown }>;
}

/** Bytes of a context or an event that are shown. */
const SHOWN = { bytesMax: 65_536 };

export class Recorded {
  readonly header: RecordedHeader | undefined;
  readonly actors = new Map<string, RecordedActor>();
  readonly charts = new Map<string, ChartDefinition>();
  readonly cluster = new RecordedCluster();
  readonly messages = new RecordedMessages();
  readonly told: ToldLine[] = [];
  readonly letters: UndeliveredLine[] = [];
  readonly runs: RunLine[] = [];
  /** Runs that there are beside these. */
  runsMore = 0;
  failure: (RecordedFailure & { readonly at: number; readonly node: string }) | undefined;
  /** The nearest run that holds, and what changed. */
  other: (Omit<RecordedOther, 'lines'> & { readonly recorded: Recorded }) | undefined;
  /** Lines that a limit left out. */
  leftOut = 0;
  #from = Number.POSITIVE_INFINITY;
  #to = 0;

  constructor(lines: Iterable<RecordedHeader | RecordedLine>) {
    let header: RecordedHeader | undefined;
    for (const line of lines) {
      if (line.type === 'recording') header ??= line;
      this.cluster.see(line);
      if (line.type !== 'recording') this.#see(line, header);
    }
    this.header = header;
  }

  get range(): { readonly from: number; readonly to: number } {
    return { from: Math.min(this.#from, this.#to), to: this.#to };
  }

  chart(kind: string): ChartDefinition | undefined {
    return this.charts.get(kind);
  }

  /** Turns of an actor as they are looked at one by one: with events and contexts. */
  turns(address: string): TurnLine[] {
    const { turns = [], wholes = [] } = this.actors.get(address) ?? {};
    return turns.map((turn, index) => {
      const { event, context } = wholes[index] ?? {};
      return {
        ...turn,
        ...(event !== undefined && { payload: show(event, SHOWN) }),
        ...(context !== undefined && { context: show(context, SHOWN) }),
      };
    });
  }

  evidence(address: string): Evidence | undefined {
    const actor = this.actors.get(address);
    if (actor === undefined) return undefined;
    const { kind, node, status, state, turnAt, context, timers, turns } = actor;
    const chart = this.charts.get(kind);
    const active = [...activePaths(state)];
    const entered = enteredAt(turns, active);
    return {
      address,
      kind,
      node,
      status,
      state,
      turnAt,
      context,
      deadlines: timers.map((timer) => deadlineAt(timer, active, entered, chart)),
      exits: status === 'active' && chart !== undefined ? exitsAt(chart, active, timers) : [],
      turns,
      enteredAt: entered,
    };
  }

  #see(line: RecordedLine, header: RecordedHeader | undefined): void {
    if (line.type === 'definition') {
      this.charts.set(line.definition.kind, line.definition.chart);
      return;
    }
    if (line.type === 'skipped') {
      this.leftOut += line.count;
      return;
    }
    if (line.type === 'other') {
      const { lines, ...other } = line.other;
      const recorded = new Recorded(header === undefined ? lines : [header, ...lines]);
      this.other = { ...other, recorded };
      return;
    }
    this.#from = Math.min(this.#from, line.at);
    this.#to = Math.max(this.#to, line.at);
    if (line.type === 'turn') this.#turn(line, header?.zero !== undefined);
    else if (line.type === 'undelivered') this.letters.push(letterOf(line, this.letters.length));
    else if (line.type === 'told') this.#tell(line);
    else if (line.type === 'runs') {
      this.runs.push(...line.runs);
      this.runsMore += line.more;
    } else if (line.type === 'fate') this.messages.befell(line);
    else if (line.type === 'failure')
      this.failure = { ...line.failure, at: line.at, node: line.node };
    else if (line.type === 'timers') this.#of(line.address, line.node).timers = line.timers;
    else if (line.type === 'actor') this.#lived(line);
    else if (line.type === 'message') this.#sent(line);
  }

  #tell({ index, at, node, text, address, turn }: Of<'told'>): void {
    const about = {
      ...(address !== undefined && { address }),
      ...(turn !== undefined && { turn }),
    };
    this.told.push({ index, at, node, text, ...about });
  }

  #lived({ address, node, at, change, state }: Of<'actor'>): void {
    const actor = this.#of(address, node);
    actor.status = change === 'born' ? 'active' : change;
    // Of one without a history nothing else says it.
    if (state === undefined || actor.turns.length > 0) return;
    actor.state = state;
    actor.turnAt = at;
  }

  #turn(line: Of<'turn'>, isTrue: boolean): void {
    this.messages.taken(line);
    const actor = this.#of(line.address, line.node);
    if (line.context !== undefined) actor.context = line.context;
    else if (line.patch !== undefined) actor.context = patched(actor.context, line.patch);
    else if (line.contextBytes !== undefined) actor.context = undefined;
    const isKnown = line.context !== undefined || line.patch !== undefined;
    const event = line.isBare === true ? undefined : line.event;
    actor.wholes.push({ event, context: isKnown ? actor.context : undefined });
    const isNew = actor.state !== line.state || actor.turns.length === 0;
    actor.state = line.state;
    actor.turnAt = line.takenAt;
    const { address, turn, takenAt, dueAt, from, counter, error, by, transitions } = line;
    actor.turns.push({
      address,
      turn,
      at: takenAt,
      ...(isTrue && { trueAt: line.at }),
      event: line.event.type,
      ...(dueAt !== undefined && { dueAt }),
      ...(from !== undefined && { from }),
      ...(counter !== undefined && counter > 0 && { counter }),
      ...(isNew && { state: line.state }),
      ...(line.did !== undefined && { did: line.did }),
      ...(error !== undefined && { error }),
      ...(by !== undefined && { by }),
      ...(transitions !== undefined && { transitions }),
    });
  }

  /** A message is recorded right after the turn that sent it. */
  #sent(line: Of<'message'>): void {
    const { from, to, event, sort, node } = line;
    const { turns } = this.#of(from, node);
    const last = turns.at(-1);
    this.messages.sent(line, last?.turn);
    if (last === undefined) return;
    const word = sort === 'hint' ? 'hint' : sort === 'answer' ? 'answer' : 'send';
    turns[turns.length - 1] = { ...last, did: [...(last.did ?? []), `${word} ${event} to ${to}`] };
  }

  #of(address: string, node: string): RecordedActor {
    const known = this.actors.get(address);
    if (known !== undefined) return known;
    const kind = address.slice(0, Math.max(0, address.indexOf('/')));
    const actor: RecordedActor = {
      address,
      kind,
      node,
      status: 'active',
      state: '',
      turnAt: 0,
      context: undefined,
      timers: [],
      turns: [],
      wholes: [],
    };
    this.actors.set(address, actor);
    return actor;
  }
}

/** A recording has the type of what nobody could take, and not what it says. */
function letterOf(
  { at, node, to, event, error }: Of<'undelivered'>,
  index: number,
): UndeliveredLine {
  const payload = show({ type: event }, SHOWN);
  return { id: String(index), at, to, type: event, payload, error, node };
}

function deadlineAt(
  { id, dueAt }: { readonly id: string; readonly dueAt: number },
  active: readonly string[],
  entered: Readonly<Record<string, number>>,
  chart: ChartDefinition | undefined,
): Deadline {
  const transitions = (chart?.transitions ?? []).filter(
    ({ timer, source }) => timer === id && active.includes(source),
  );
  const state = transitions[0]?.source;
  const armedAt = state === undefined ? undefined : entered[state];
  return {
    id,
    name: deadlineName(id, chart),
    ...(state !== undefined && { state }),
    transitions: transitions.map((transition) => transition.id),
    dueAt,
    ...(armedAt !== undefined && { armedAt }),
  };
}

function exitsAt(
  chart: ChartDefinition,
  active: readonly string[],
  timers: RecordedActor['timers'],
): ActorExit[] {
  return exitsOfChart(chart, new Set(active)).map((exit) => {
    const due = timers.find(({ id }) => id === exit.timer);
    return due === undefined ? exit : { ...exit, dueAt: due.dueAt };
  });
}

/** Lines of a recording's text. Throws what says the line that is wrong. */
export function readLines(text: string): Array<RecordedHeader | RecordedLine> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const read = lines.map((line, index) => {
    try {
      return JSON.parse(line) as RecordedHeader | RecordedLine;
    } catch {
      throw new Error(`Line ${index + 1} of the recording is no JSON.`);
    }
  });
  const [header] = read;
  if (header?.type !== 'recording')
    throw new Error('This is no recording: its first line is no header.');
  if (header.version > RECORDING_VERSION)
    throw new Error(
      `The recording has version ${header.version}; this release reads up to ${RECORDING_VERSION}.`,
    );
  return read;
}
