/**
 * Hub: everything that is collected while somebody looks, and the streams that are told of it.
 *
 * Once a second it tells overviews and lists. Actors and turns that begin to change are told within a quarter of a
 * second, and twice a second while they go on: a write to a page costs a node as much as a hundred turns. The
 * inspection stream is read only while turns are watched or recorded, and contexts are copied only of watched actors.
 * A minute after the last look everything stops and nothing is kept but a recording.
 */

import { messageOf } from '../runtime/base/errors.ts';
import type { InspectionRecord } from '../runtime/base/inspection.ts';
import { messageLineOf, turnLineOf } from './fact-lines.ts';
import type { ClusterViews } from './live/cluster.ts';
import type { LiveContext } from './live/live-context.ts';
import type { NodeViews } from './live/node-views.ts';
import type { ActorAnswer, Hello, Overview, TurnsPage, Watch } from './protocol.ts';
import type { FrameStream } from './stream.ts';

const FLUSH_MS = 250;
const FLUSHES_PER_TICK = 4;
/** Turns and messages that wait for a flush; beyond it they are counted and told as skipped. */
const WAITING_MAX = 1_000;
const ACTORS_MAX = 20;
const TURNS_MAX = 200;
const LISTS_MAX = 10;

export interface HubParts {
  readonly context: LiveContext;
  readonly views: NodeViews;
  readonly cluster: ClusterViews;
  readonly idleMs: number;
}

export class Hub {
  readonly #parts: HubParts;
  readonly #streams = new Map<string, FrameStream>();
  #lookedAt = 0;
  #isAwake = false;
  #cancel: (() => void) | undefined;
  #unread: (() => void) | undefined;
  #flushes = 0;
  /** True if there was something to tell at the last flush. */
  #hasTold = false;
  #isTicking = false;
  /** Addresses whose turns or detail some page watches. */
  #watched: ReadonlySet<string> = new Set();
  #turns: Array<Extract<InspectionRecord, { type: 'turn' }>> = [];
  #messages: Array<Extract<InspectionRecord, { type: 'messageSent' }>> = [];
  #skippedTurns = 0;
  #changed = new Set<string>();

  constructor(parts: HubParts) {
    this.#parts = parts;
  }

  get streams(): number {
    return this.#streams.size;
  }

  /** True while something is collected. */
  get isAwake(): boolean {
    return this.#isAwake;
  }

  /** Somebody looks: collecting goes on for a while. */
  touch(): void {
    const { context, views } = this.#parts;
    this.#lookedAt = context.now();
    if (this.#isAwake) return;
    this.#isAwake = true;
    views.start();
    this.#schedule();
  }

  open(stream: FrameStream, hello: Hello): void {
    this.#streams.set(stream.id, stream);
    this.touch();
    stream.send({ at: this.#now(), type: 'opened', stream: stream.id, hello });
  }

  closed(stream: FrameStream): void {
    this.#streams.delete(stream.id);
    this.#rewatch();
  }

  /** Sets what a stream tells; false when there is no such stream. */
  watch({ stream: id, ...watch }: Watch): boolean {
    const stream = this.#streams.get(id);
    if (stream === undefined) return false;
    const lists = Object.entries(watch.lists ?? {}).slice(0, LISTS_MAX);
    stream.watch = {
      ...watch,
      lists: Object.fromEntries(lists),
      actors: (watch.actors ?? []).slice(0, ACTORS_MAX),
      turns: (watch.turns ?? []).slice(0, TURNS_MAX),
    };
    for (const name of stream.toldRows.keys())
      if (!lists.some(([list]) => list === name)) stream.toldRows.delete(name);
    stream.toldActors.clear();
    stream.toldTurns.clear();
    this.#rewatch();
    for (const address of stream.watch.actors ?? []) this.#changed.add(address);
    this.touch();
    void this.#tick();
    return true;
  }

  /** Tells every page why the source ends, and ends their streams. */
  close(why: string): void {
    for (const stream of this.#streams.values())
      stream.end({ at: this.#now(), type: 'closing', why, retry: true });
    this.#streams.clear();
    this.#sleep();
  }

  #now(): number {
    return this.#parts.context.now();
  }

  #schedule(): void {
    this.#cancel = this.#parts.context.watch.later(FLUSH_MS, () => this.#flushed());
  }

  #flushed(): void {
    const isIdle = this.#streams.size === 0 && this.#now() - this.#lookedAt >= this.#parts.idleMs;
    if (isIdle) {
      this.#sleep();
      return;
    }
    for (const stream of this.#streams.values()) if (!stream.isOpen) this.closed(stream);
    const isBetween = this.#flushes % 2 === 1;
    if (!isBetween || !this.#hasTold) this.#hasTold = this.#flush();
    if (this.#flushes % FLUSHES_PER_TICK === 0) void this.#tick();
    this.#flushes += 1;
    this.#schedule();
  }

  #sleep(): void {
    this.#isAwake = false;
    this.#cancel?.();
    this.#unread?.();
    this.#unread = undefined;
    this.#parts.views.stop();
    this.#turns = [];
    this.#messages = [];
    this.#changed.clear();
  }

  #rewatch(): void {
    const all = [...this.#streams.values()].flatMap(({ watch }) => [
      ...(watch.actors ?? []),
      ...(watch.turns ?? []),
    ]);
    this.#watched = new Set(all);
    if (this.#watched.size === 0) {
      this.#unread?.();
      this.#unread = undefined;
    } else
      this.#unread ??= this.#parts.context.runtime.inspect(
        (record) => this.#read(record),
        (address) => this.#watched.has(address),
      );
  }

  /** Hears of the actors that somebody watches; of the others nothing is built. */
  #read(record: InspectionRecord): void {
    if (record.type === 'turn') {
      this.#changed.add(record.address);
      if (this.#turns.length < WAITING_MAX) this.#turns.push(record);
      else this.#skippedTurns += 1;
    } else if (record.type === 'messageSent') {
      if (this.#messages.length < WAITING_MAX) this.#messages.push(record);
    }
  }

  /** False when there is nothing to tell. */
  #flush(): boolean {
    const [turns, messages, changed, skipped] = [
      this.#turns,
      this.#messages,
      this.#changed,
      this.#skippedTurns,
    ];
    this.#turns = [];
    this.#messages = [];
    this.#changed = new Set();
    this.#skippedTurns = 0;
    const at = this.#now();
    const lines = turns.map((turn) => turnLineOf(turn, this.#parts.context.rules));
    const sent = messages.map(messageLineOf);
    for (const stream of this.#streams.values()) {
      const { turns: wanted = [], actors = [] } = stream.watch;
      const own = lines.filter(({ address }) => wanted.includes(address));
      if (own.length > 0) stream.send({ at, type: 'turns', turns: own });
      if (skipped > 0 && wanted.length > 0)
        stream.send({ at, type: 'skipped', count: skipped, of: 'turns' });
      const told = sent.filter(({ from, to }) => wanted.includes(from) || wanted.includes(to));
      if (told.length > 0) stream.send({ at, type: 'messages', messages: told });
      for (const address of actors)
        if (changed.has(address) && this.#parts.context.isHere(address))
          void this.#tellActor(stream, address);
    }
    return lines.length + sent.length + changed.size > 0;
  }

  /** Once a second: a heartbeat, overviews, lists, and actors of other nodes. */
  async #tick(): Promise<void> {
    if (this.#isTicking) return;
    this.#isTicking = true;
    try {
      const answers = new Map<string, Promise<unknown>>();
      await Promise.all([...this.#streams.values()].map((stream) => this.#tell(stream, answers)));
    } catch (thrown) {
      this.#parts.context.watch.logger.error(
        { error: messageOf(thrown) },
        'the inspector could not tell its pages',
      );
    } finally {
      this.#isTicking = false;
    }
  }

  /** Pages that ask the same share one answer. */
  async #tell(stream: FrameStream, answers: Map<string, Promise<unknown>>): Promise<void> {
    const { overview, lists = {}, actors = [], turns = [] } = stream.watch;
    const { context } = this.#parts;
    stream.send({ at: this.#now(), type: 'tick' });
    const ask = <TAnswer>(
      path: string,
      parameters: Readonly<Record<string, string>>,
    ): Promise<TAnswer> => {
      const key = JSON.stringify([path, parameters]);
      const known = answers.get(key) ?? this.#parts.cluster.query(path, parameters);
      answers.set(key, known);
      return known as Promise<TAnswer>;
    };
    const attempt = async (tell: () => Promise<void>): Promise<void> => {
      // A node that is gone is told by the answer itself; anything else by the next question of the page.
      await tell().catch((thrown: unknown) =>
        context.watch.logger.debug(
          { error: messageOf(thrown) },
          'a frame of the inspector was left out',
        ),
      );
    };
    if (overview !== undefined)
      await attempt(async () => {
        const found = await ask<Overview>('overview', { window: overview });
        stream.send({ at: this.#now(), type: 'overview', overview: found });
      });
    for (const [list, query] of Object.entries(lists))
      await attempt(async () =>
        this.#tellList(stream, list, await ask('actors', query as Record<string, string>)),
      );
    for (const address of actors) {
      const isQuiet = context.isHere(address) && stream.toldActors.has(address);
      if (!isQuiet) await attempt(() => this.#tellActor(stream, address));
    }
    for (const address of turns.filter((each) => !context.isHere(each)))
      await attempt(async () =>
        this.#tellTurns(stream, address, await ask('turns', { address, limit: '50' })),
      );
  }

  /** New turns of an actor of another node, which this one hears of by asking. */
  #tellTurns(stream: FrameStream, address: string, page: TurnsPage): void {
    const told = stream.toldTurns.get(address);
    const turns = told === undefined ? [] : page.turns.filter(({ turn }) => turn > told);
    const last = page.turns.at(-1)?.turn ?? 0;
    if (turns.length === 0 || stream.send({ at: this.#now(), type: 'turns', turns }))
      stream.toldTurns.set(address, last);
  }

  /** What was told last is kept as it was sent, so that a row is encoded once a tick. */
  #tellList(
    stream: FrameStream,
    list: string,
    { rows }: { readonly rows: readonly { readonly address: string }[] },
  ): void {
    const before = stream.toldRows.get(list) ?? new Map<string, string>();
    const now = new Map(rows.map((row) => [row.address, JSON.stringify(row)]));
    const changed = [...now].filter(([address, row]) => before.get(address) !== row);
    const gone = [...before.keys()].filter((address) => !now.has(address));
    if (changed.length === 0 && gone.length === 0 && stream.toldRows.has(list)) return;
    const json = `[${changed.map(([, row]) => row).join(',')}]`;
    const frame = { at: this.#now(), type: 'list', list, gone, order: [...now.keys()] } as const;
    if (stream.sendWith(frame, 'changed', json)) stream.toldRows.set(list, now);
  }

  async #tellActor(stream: FrameStream, address: string): Promise<void> {
    const { actor } = (await this.#parts.cluster.query('actor', { address })) as ActorAnswer;
    const text = JSON.stringify(actor ?? null);
    if (stream.toldActors.get(address) === text) return;
    if (stream.sendWith({ at: this.#now(), type: 'actor', address }, 'actor', text))
      stream.toldActors.set(address, text);
  }
}
