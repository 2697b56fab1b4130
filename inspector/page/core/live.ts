/**
 * The stream: one connection for the whole page, and what the parts that are shown want to hear on it.
 *
 * A part says what it watches for as long as it is there; what all of them watch is posted whole, once per change. A
 * connection that is lost comes back by itself, and everything is asked for again.
 */

import { computed, effect, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import {
  type ActorDetail,
  type ActorsQuery,
  type Frame,
  type Hello,
  type Overview,
  PROTOCOL_VERSION,
} from '../../protocol.ts';
import { post } from './api.ts';
import { hearTime, stopAt } from './clock.ts';
import { openAt } from './route.ts';
import { countFrom } from './words.ts';

export type Connection = 'connecting' | 'live' | 'lost' | 'ended' | 'tooNew';

export const connection = signal<Connection>('connecting');
/** Reason of a stream that has ended or was lost. */
export const connectionWhy = signal('');
export const hello = signal<Hello | undefined>(undefined);
export const overview = signal<Overview | undefined>(undefined);
/** Actors in detail as they were told last; null for one that there is not. */
export const details = signal<ReadonlyMap<string, ActorDetail | null>>(new Map());
export const skipped = signal(0);
/** True while the reader has stopped the page: it shows what it had then. */
export const isPaused = signal(false);
/** Rises with each connection: what is shown is asked for again. */
export const generation = signal(0);

/** True when a source can do it; `reason` says why not. */
export function can(name: keyof Hello['capabilities']): boolean {
  return hello.value?.capabilities[name]?.can === true;
}
export function reason(name: keyof Hello['capabilities']): string {
  const capability = hello.value?.capabilities[name];
  return capability === undefined || capability.can ? '' : capability.why;
}

export interface Interest {
  readonly overview?: string;
  readonly list?: readonly [name: string, query: ActorsQuery];
  readonly actors?: readonly string[];
  readonly turns?: readonly string[];
}

type Hear = (frame: Frame) => void;
const interests = signal<ReadonlySet<Interest>>(new Set());
const hearers = new Set<Hear>();
const stream = signal<string | undefined>(undefined);

const wanted = computed(() => {
  const all = [...interests.value];
  const window = all.find((each) => each.overview !== undefined)?.overview;
  const lists = Object.fromEntries(all.flatMap(({ list }) => (list === undefined ? [] : [list])));
  const actors = [...new Set(all.flatMap((each) => each.actors ?? []))].slice(0, 20);
  const turns = [...new Set(all.flatMap((each) => each.turns ?? []))].slice(0, 200);
  return JSON.stringify({ ...(window && { overview: window }), lists, actors, turns });
});

/** Watches while the part that calls it is shown. */
export function useWatch(interest: Interest, hear?: Hear): void {
  const key = JSON.stringify(interest);
  useEffect(() => {
    interests.value = new Set(interests.value).add(interest);
    if (hear !== undefined) hearers.add(hear);
    return () => {
      const rest = new Set(interests.value);
      rest.delete(interest);
      interests.value = rest;
      if (hear !== undefined) hearers.delete(hear);
    };
  }, [key]);
}

let source: EventSource | undefined;
let leaving: ReturnType<typeof setTimeout> | undefined;

/**
 * Opens the stream, and closes it while nobody sees the page: a browser has six connections to a server for all
 * its tabs together.
 */
export function connect(): void {
  open();
  document.addEventListener('visibilitychange', () => {
    clearTimeout(leaving);
    if (!document.hidden && source === undefined && !isOver()) open();
    else if (document.hidden) leaving = setTimeout(close, HIDDEN_MS);
  });
}
const RETRY_MS = 2_000;
const HIDDEN_MS = 10_000;

const isOver = (): boolean => connection.peek() === 'ended' || connection.peek() === 'tooNew';

function open(): void {
  const opened = new EventSource('api/stream');
  source = opened;
  opened.onmessage = ({ data }: MessageEvent<string>) => take(JSON.parse(data) as Frame);
  opened.onerror = () => {
    if (isOver() || source !== opened) return;
    connection.value = hello.value === undefined ? 'connecting' : 'lost';
    stream.value = undefined;
    // A browser gives up by itself where the answer was no stream: then it is on us.
    if (opened.readyState === EventSource.CLOSED) setTimeout(open, RETRY_MS);
  };
}

function close(): void {
  source?.close();
  source = undefined;
  stream.value = undefined;
}

/** A hearer that throws must not silence the others: the browser reports it. */
function take(frame: Frame): void {
  hearTime(frame.at);
  if (frame.type === 'opened') begin(frame);
  if (frame.type === 'closing') end(frame);
  if (frame.type === 'skipped') skipped.value += frame.count;
  if (!isPaused.peek()) {
    if (frame.type === 'overview') overview.value = frame.overview;
    if (frame.type === 'actor')
      details.value = new Map(details.peek()).set(frame.address, frame.actor);
  }
  for (const hear of hearers) hear(frame);
}

function begin(frame: Extract<Frame, { type: 'opened' }>): void {
  if (frame.hello.protocol > PROTOCOL_VERSION) {
    connection.value = 'tooNew';
    close();
    return;
  }
  countFrom(frame.hello.zero);
  if (frame.hello.range !== undefined) stopAt(frame.hello.range.to);
  if (hello.peek() === undefined && frame.hello.start !== undefined) openAt(frame.hello.start);
  hello.value = frame.hello;
  connection.value = 'live';
  connectionWhy.value = '';
  stream.value = frame.stream;
  generation.value += 1;
}

function end(frame: Extract<Frame, { type: 'closing' }>): void {
  connectionWhy.value = frame.why;
  connection.value = frame.retry ? 'lost' : 'ended';
  if (!frame.retry) close();
}

effect(() => {
  const id = stream.value;
  const body = wanted.value;
  if (id !== undefined) void tellWatch(id, body);
});

let asked: { readonly id: string; readonly body: string } | undefined;
let isTelling = false;

/** One after the other: of two at once the older might arrive last, and stay. */
async function tellWatch(id: string, body: string): Promise<void> {
  asked = { id, body };
  if (isTelling) return;
  isTelling = true;
  while (asked !== undefined) {
    const next: { readonly id: string; readonly body: string } = asked;
    asked = undefined;
    await post('watch', { stream: next.id, ...JSON.parse(next.body) }).catch((thrown: Error) => {
      connectionWhy.value = thrown.message;
    });
  }
  isTelling = false;
}
