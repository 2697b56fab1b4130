/**
 * Views of one node by the path of their query: what this node alone knows. The cluster's views are put together
 * of these, and other nodes ask for them.
 */

import { RuntimeError } from '../../runtime/base/errors.ts';
import { type Parameters, textOf } from '../lookup.ts';
import { durationOf, wholeNumber } from '../parameters.ts';
import type {
  ActorsQuery,
  FleetView,
  RunLine,
  RunsView,
  TimeoutsView,
  TurnsPage,
  UndeliveredLine,
} from '../protocol.ts';
import { SHADOW_KINDS, shadowLines } from '../shadows.ts';
import { redacted, show } from '../shown.ts';
import { actorHere, canHere } from './actor-view.ts';
import { actorsHere } from './actors-view.ts';
import { FencedMessages } from './fenced.ts';
import { Histories } from './histories.ts';
import { IndexScan, PENDING_MS } from './index-scan.ts';
import type { LiveContext } from './live-context.ts';
import { overviewHere } from './overview.ts';
import { Rates } from './rates.ts';
import { evidenceHere } from './why-view.ts';

const TURNS_MAX = 500;
const LETTERS_MAX = 200;

export class NodeViews {
  readonly context: LiveContext;
  readonly scan: IndexScan;
  readonly rates: Rates;
  readonly histories: Histories;
  readonly fenced: FencedMessages;

  constructor(context: LiveContext) {
    this.context = context;
    this.scan = new IndexScan(context);
    this.rates = new Rates(context);
    this.histories = new Histories(context);
    this.fenced = new FencedMessages(context.runtime);
  }

  start(): void {
    this.scan.start();
    this.rates.start();
  }

  stop(): void {
    this.scan.stop();
    this.rates.stop();
    this.histories.clear();
    this.fenced.stop();
    this.context.recent.clear();
  }

  /** @throws {RuntimeError} OPTION_INVALID and what the runtime throws */
  view(path: string, parameters: Parameters): unknown {
    const view = VIEWS[path];
    if (view === undefined) throw new RuntimeError('OPTION_INVALID', `There is no view "${path}".`);
    return view(this, parameters);
  }
}

type View = (views: NodeViews, parameters: Parameters) => unknown;

const VIEWS: Readonly<Record<string, View>> = {
  overview: ({ context, scan, rates }, parameters) =>
    overviewHere(context, { scan, rates, windowMs: windowOf(parameters, '5m') }),
  actors: ({ context, scan }, parameters) => {
    const { result } = scan;
    const isAll = [
      'kind',
      'text',
      'state',
      'tag',
      'status',
      'dueWithin',
      'stuckFor',
      'waitingFor',
      'failed',
      'pending',
      'extensionsMin',
    ].every((name) => parameters[name] === undefined);
    const page = actorsHere(context, parameters as ActorsQuery);
    return isAll && result !== undefined ? { ...page, total: result.total } : page;
  },
  actor: ({ context }, parameters) => ({ actor: actorHere(context, addressOf(parameters)) }),
  can: ({ context }, parameters) =>
    canHere(context, addressOf(parameters), textOf(parameters, 'event') ?? ''),
  definition: ({ context }, parameters) => {
    const kind = textOf(parameters, 'kind') ?? '';
    const definition = context.definition(kind);
    if (definition === undefined)
      throw new RuntimeError('KIND_UNKNOWN', `No kind "${kind}" is registered here.`);
    return definition;
  },
  fleet: ({ scan, histories }, parameters): Omit<FleetView, 'missing'> => {
    const kind = textOf(parameters, 'kind') ?? '';
    return histories.fleet(kind, windowOf(parameters, '5m'), scan.result?.kinds.get(kind));
  },
  turns: turnsHere,
  evidence: (views, parameters) => ({
    evidence: evidenceHere(views, addressOf(parameters)),
  }),
  usual: ({ histories }, parameters) => ({
    states: histories.fleet(textOf(parameters, 'kind') ?? '', 86_400_000, undefined).states,
  }),
  timeouts: timeoutsHere,
  undelivered: undeliveredHere,
  runs: runsHere,
};

export const VIEW_NAMES: ReadonlySet<string> = new Set(Object.keys(VIEWS));

function turnsHere({ context }: NodeViews, parameters: Parameters): Omit<TurnsPage, 'at'> {
  const address = addressOf(parameters);
  const limit = wholeNumber(textOf(parameters, 'limit'), 'limit', {
    min: 1,
    max: TURNS_MAX,
    usual: 100,
  });
  const before = wholeNumber(textOf(parameters, 'before'), 'before', {
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    usual: Number.MAX_SAFE_INTEGER,
  });
  const all = context.turns(address, 10_000).filter(({ turn }) => turn < before);
  const turns = all.slice(-limit);
  const first = turns[0]?.turn;
  return {
    turns,
    ...(all.length > turns.length && first !== undefined && { before: first }),
    howToRecord:
      'The history keeps turns, not contexts. Start a recording here, or give createRuntime the option inspector.record.',
  };
}

function timeoutsHere(
  { context, histories, scan }: NodeViews,
  parameters: Parameters,
): Omit<TimeoutsView, 'at' | 'missing'> {
  const windowMs = windowOf(parameters, '1h');
  const { runtime } = context;
  const soonest = runtime.isHosting ? runtime.query({ sort: 'deadline', limit: 50 }).actors : [];
  const pending = scan.result?.pending ?? [];
  const since = context.now() - windowMs;
  const shadowing = context.watch
    .kinds()
    .map(({ name }) => name)
    .filter((name) => SHADOW_KINDS.includes(name));
  return {
    windowMs,
    since,
    ...(shadowing.length > 0 && { shadows: shadowLines(histories.shadowed(shadowing), since) }),
    lines: context.watch.kinds().flatMap(({ name }) => histories.timeouts(name, windowMs)),
    pending: PENDING_MS.map((withinMs, index) => ({ withinMs, count: pending[index] ?? 0 })),
    soonest: soonest.map((row) => context.line(row)),
  };
}

function undeliveredHere({ context }: NodeViews, parameters: Parameters) {
  const limit = wholeNumber(textOf(parameters, 'limit'), 'limit', {
    min: 1,
    max: LETTERS_MAX,
    usual: 100,
  });
  const after = textOf(parameters, 'cursor');
  const all = context.runtime.isHosting ? context.runtime.undelivered() : [];
  const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
  const rows = all.slice(start, start + limit).map((letter): UndeliveredLine => {
    const { id, at, to, event, error } = letter;
    const from = 'from' in letter && typeof letter.from === 'string' ? letter.from : undefined;
    return {
      id,
      at,
      to,
      ...(from !== undefined && { from }),
      type: event?.type ?? letter.effect?.name ?? '',
      payload: show(event ?? letter.effect, context.rules),
      error,
      node: context.node,
    };
  });
  const last = rows.at(-1)?.id;
  return { rows, ...(start + limit < all.length && last !== undefined && { cursor: last }) };
}

function runsHere({ context }: NodeViews): Omit<RunsView, 'at' | 'missing'> {
  const told = context.runsTold();
  const { redact } = context.rules;
  if (redact === undefined) return told;
  // Counters such as `tokens` are no secrets.
  const one = ({ usage, ...run }: RunLine): RunLine => ({
    ...(redacted(run, redact) as RunLine),
    usage,
  });
  return { ...told, runs: told.runs.map(one) };
}

/** @throws {RuntimeError} OPTION_INVALID */
export function addressOf(parameters: Parameters): string {
  const address = textOf(parameters, 'address');
  if (address !== undefined && address.length <= 1_024) return address;
  throw new RuntimeError('OPTION_INVALID', '"address" is missing.');
}

function windowOf(parameters: Parameters, usual: string): number {
  return Math.max(1_000, durationOf(textOf(parameters, 'window') ?? usual, 'window'));
}
