/**
 * Inspector of something at rest: who it is, its answers, and the frames of its stream. Pure and safe in a browser: a
 * server and the page in a single file use the same.
 */

import type { Parameters } from '../lookup.ts';
import {
  type ActorAnswer,
  type ActorsPage,
  type CapabilityName,
  type Frame,
  type Hello,
  type Overview,
  PROTOCOL_VERSION,
  type SourceSort,
  type Watch,
} from '../protocol.ts';
import { SHADOW_KINDS, shadowLines } from '../shadows.ts';
import type { Recorded } from './recorded.ts';
import { recordedView } from './recorded-views.ts';

const ALL: readonly CapabilityName[] = [
  'live',
  'contexts',
  'commands',
  'send',
  'ask',
  'extend',
  'changeDeadline',
  'fireNow',
  'cancel',
  'runs',
  'answer',
  'letters',
  'lifecycle',
  'record',
  'copyTest',
  'cluster',
  'faults',
  'tour',
];

const RUNS: readonly CapabilityName[] = ['runs'];

export class Resting {
  readonly #recorded: Recorded;
  readonly #source: SourceSort;

  constructor(recorded: Recorded, source: SourceSort) {
    this.#recorded = recorded;
    this.#source = source;
  }

  now(): number {
    return this.#recorded.range.to;
  }

  hello(): Hello {
    const { header, range, failure } = this.#recorded;
    const [first] = header?.nodes ?? [];
    const why = 'This is at rest: nothing in it changes any more.';
    const hasRuns = this.#recorded.runs.length > 0;
    const can = new Set<CapabilityName>(['contexts', 'copyTest', ...(hasRuns ? RUNS : [])]);
    const capabilities = Object.fromEntries(
      ALL.map((name) => [name, can.has(name) ? { can: true } : { can: false, why }]),
    ) as unknown as Hello['capabilities'];
    return {
      protocol: PROTOCOL_VERSION,
      version: header?.escapement ?? '',
      at: this.now(),
      source: this.#source,
      title: header?.title ?? 'a recording',
      node: first?.node ?? '',
      place: first?.place ?? '',
      capabilities,
      range,
      ...(header?.zero !== undefined && { zero: header.zero }),
      ...(hasRuns && { start: '#/runs' }),
      ...(failure !== undefined && { failure: failure.invariant, start: '#/failure' }),
    };
  }

  /** Undefined for what a recording has no answer to. */
  async query(path: string, parameters: Parameters): Promise<object | undefined> {
    if (path === 'hello') return this.hello();
    if (path === 'can')
      return { at: this.now(), isTaken: false, transitions: [], why: 'Nothing is taken at rest.' };
    if (path === 'timeouts') return this.#timeouts(await this.#soonest());
    return recordedView(this.#recorded, path, parameters);
  }

  /** Everything that a watch asks for, once: it never changes. */
  async frames(watch: Omit<Watch, 'stream'>): Promise<Frame[]> {
    const at = this.now();
    const frames: Frame[] = [];
    if (watch.overview !== undefined)
      frames.push({
        at,
        type: 'overview',
        overview: (await this.query('overview', {})) as Overview,
      });
    for (const [list, query] of Object.entries(watch.lists ?? {})) {
      const { rows } = (await this.query('actors', query as Parameters)) as ActorsPage;
      frames.push({
        at,
        type: 'list',
        list,
        changed: rows,
        gone: [],
        order: rows.map(({ address }) => address),
      });
    }
    for (const address of watch.actors ?? []) {
      const { actor } = (await this.query('actor', { address })) as ActorAnswer;
      frames.push({ at, type: 'actor', address, actor: actor ?? null });
    }
    return frames;
  }

  async #soonest(): Promise<ActorsPage['rows']> {
    const asked = { sort: 'deadline', status: 'active', limit: '50' };
    const { rows } = (await recordedView(this.#recorded, 'actors', asked)) as ActorsPage;
    return rows.filter(({ dueAt }) => dueAt !== undefined);
  }

  #timeouts(soonest: ActorsPage['rows']): object {
    const { from, to } = this.#recorded.range;
    const counts = new Map<string, { kind: string; reason: string; count: number }>();
    for (const { kind, turns } of this.#recorded.actors.values())
      for (const { event, dueAt } of turns) {
        if (dueAt === undefined && !event.startsWith('xstate.after.')) continue;
        const reason = event.replace(/^xstate\.after\./, '').split('.')[0] ?? event;
        const line = counts.get(`${kind} ${reason}`) ?? { kind, reason, count: 0 };
        counts.set(`${kind} ${reason}`, line);
        line.count += 1;
      }
    const actors = [...this.#recorded.actors.values()].map(
      ({ address, kind, status, state, context }) => ({
        ...{ address, kind, context },
        state: status === 'active' ? undefined : state,
      }),
    );
    const shadowing = actors.filter(({ kind }) => SHADOW_KINDS.includes(kind));
    const rate = { stepMs: Math.max(1, to - from), values: [] };
    const lines = [...counts.values()].map((line) => ({ ...line, rate }));
    return {
      at: to,
      windowMs: to - from,
      since: from,
      lines,
      pending: [],
      soonest,
      ...(shadowing.length > 0 && { shadows: shadowLines(shadowing, 0) }),
      missing: [],
    };
  }
}

/** Parameters of a query string. */
export function parametersIn(query: URLSearchParams): Parameters {
  const parameters: Record<string, string | string[]> = {};
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    parameters[name] = values.length === 1 ? (values[0] as string) : values;
  }
  return parameters;
}
