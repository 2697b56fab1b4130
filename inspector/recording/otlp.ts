/**
 * A recording as OTLP JSON: a span per turn, linked to the turn that sent its message. Ids are drawn from what a turn
 * is, so that the same recording gives the same spans.
 */

import type { RecordedHeader, RecordedLine } from '../protocol.ts';

type Attribute = {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: string };
};

export function otlpOf(lines: ReadonlyArray<RecordedHeader | RecordedLine>): object {
  const byNode = new Map<string, object[]>();
  /** Trace and span of the turn that sent a message. */
  const senders = new Map<string, { readonly traceId: string; readonly spanId: string }>();
  /** The last turn of each actor. */
  const last = new Map<string, { readonly traceId: string; readonly spanId: string }>();
  let version = '';
  for (const line of lines) {
    if (line.type === 'recording') version = line.escapement;
    if (line.type === 'message') {
      const turn = last.get(line.from);
      if (turn !== undefined) senders.set(`${line.from}#${line.counter}>${line.to}`, turn);
    }
    if (line.type !== 'turn') continue;
    const { address, turn, event, from, counter, state, takenAt, at, node, error } = line;
    const parent = from === undefined ? undefined : senders.get(`${from}#${counter}>${address}`);
    const spanId = hex(`${address}#${turn}`, 16);
    const traceId = parent?.traceId ?? hex(`${address}#${turn}#trace`, 32);
    last.set(address, { traceId, spanId });
    const spans = byNode.get(node) ?? [];
    byNode.set(node, spans);
    spans.push({
      traceId,
      spanId,
      ...(parent !== undefined && { parentSpanId: parent.spanId }),
      name: `${address.slice(0, address.indexOf('/'))} ${event.type}`,
      kind: 5,
      startTimeUnixNano: `${takenAt}000000`,
      endTimeUnixNano: `${Math.max(takenAt, at)}000000`,
      attributes: [
        text('escapement.actor', address),
        text('escapement.event', event.type),
        text('escapement.state', state),
        { key: 'escapement.turn', value: { intValue: String(turn) } },
        ...(from === undefined ? [] : [text('escapement.from', from)]),
      ],
      status:
        error === undefined ? { code: 1 } : { code: 2, message: `${error.code}: ${error.message}` },
    });
  }
  return {
    resourceSpans: [...byNode].map(([node, spans]) => ({
      resource: {
        attributes: [text('service.name', 'escapement'), text('service.instance.id', node)],
      },
      scopeSpans: [{ scope: { name: 'escapement', version }, spans }],
    })),
  };
}

const text = (key: string, stringValue: string): Attribute => ({ key, value: { stringValue } });

/** FNV-1a, with another beginning for each eight digits. */
function hex(of: string, digits: number): string {
  let found = '';
  for (let part = 0; found.length < digits; part += 1) {
    let hash = 0x811c9dc5 ^ Math.imul(part + 1, 0x9e3779b1);
    for (let index = 0; index < of.length; index += 1)
      hash = Math.imul(hash ^ of.charCodeAt(index), 0x01000193);
    found += (hash >>> 0).toString(16).padStart(8, '0');
  }
  return found.slice(0, digits);
}
