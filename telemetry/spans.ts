/**
 * Spans from the inspection stream: one for each durable turn, one for each commit.
 *
 * A turn's span begins when the turn was taken and ends when it was durable, so it holds
 * the wait for its commit. A turn caused by a message is a child of the turn that sent
 * it, as long as both are in this process. Contexts and the fields of events, which may
 * be private, never become attributes.
 */

import type { Span, SpanContext, SpanStatusCode, Tracer, TracerProvider } from '@opentelemetry/api';
import { kindOf } from '../runtime/base/address.ts';
import type { InspectionRecord } from '../runtime/base/inspection.ts';
import type { Metrics } from '../runtime/base/metrics.ts';
import { SentSpans } from './sent-spans.ts';

export type Api = typeof import('@opentelemetry/api');
type TurnRecord = Extract<InspectionRecord, { type: 'turn' }>;
type CommitRecord = Extract<InspectionRecord, { type: 'commit' | 'commitRefused' }>;

/** Nodes of one process that trace to the same place know each other's messages. */
const sentTo = new WeakMap<TracerProvider, SentSpans>();

export class Spans {
  readonly #api: Api;
  readonly #metrics: Metrics;
  readonly #tracer: Tracer;
  readonly #sent: SentSpans;
  /** The turn that the stream told of last: what it sent follows at once. */
  #turn: SpanContext | undefined;

  constructor(api: Api, metrics: Metrics) {
    const provider = api.trace.getTracerProvider();
    this.#api = api;
    this.#metrics = metrics;
    this.#tracer = provider.getTracer('escapement');
    this.#sent = sentTo.get(provider) ?? new SentSpans();
    sentTo.set(provider, this.#sent);
  }

  read(record: InspectionRecord): void {
    switch (record.type) {
      case 'turn':
        this.#turn = undefined;
        this.#turn = this.#turnOf(record).spanContext();
        return;
      case 'messageSent':
        if (this.#turn !== undefined) this.#sent.sent(record.from, record.counter, this.#turn);
        return;
      case 'commit':
      case 'commitRefused':
        this.#commitOf(record);
    }
  }

  #turnOf(record: TurnRecord): Span {
    const { trace, ROOT_CONTEXT } = this.#api;
    const { address, event, from, counter, state, turn, node, place, error, at } = record;
    const isMessage = from !== undefined && counter !== undefined;
    const sender = isMessage ? this.#sent.take(from, counter) : undefined;
    const kind = kindOf(address);
    const span = this.#tracer.startSpan(
      `turn ${kind} ${event.type}`,
      {
        startTime: this.#metrics.lastTurnAt,
        attributes: {
          'escapement.node': node,
          'escapement.place': place,
          'escapement.kind': kind,
          'escapement.address': address,
          'escapement.event': event.type,
          'escapement.state': state,
          'escapement.turn': turn,
          ...(isMessage && { 'escapement.from': from, 'escapement.counter': counter }),
        },
      },
      sender === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, sender),
    );
    if (error !== undefined) {
      span.setAttribute('escapement.error', error.code);
      span.setStatus({ code: this.#error, message: error.message });
    }
    span.end(at);
    return span;
  }

  #commitOf(record: CommitRecord): void {
    const { node, place, at } = record;
    const options = {
      startTime: at - this.#metrics.lastCommitMs,
      attributes: { 'escapement.node': node, 'escapement.place': place },
    };
    const span = this.#tracer.startSpan('commit', options, this.#api.ROOT_CONTEXT);
    if (record.type === 'commit') {
      span.setAttribute('escapement.turns', record.turns);
      span.setAttribute('escapement.records', record.records);
    } else {
      span.setAttribute('escapement.records', record.addresses.length);
      span.setStatus({ code: this.#error, message: record.error });
    }
    span.end(at);
  }

  get #error(): SpanStatusCode.ERROR {
    return this.#api.SpanStatusCode.ERROR;
  }
}
