/**
 * A recording as trace events of Chrome and Perfetto: a process per node, a thread per actor, states and turns as
 * slices, messages as flows.
 */

import type { RecordedHeader, RecordedLine } from '../protocol.ts';

/** An event of the trace event format: the part that is used. Times are in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly ph: 'M' | 'X' | 'i' | 's' | 'f';
  readonly pid: number;
  readonly tid: number;
  readonly ts?: number;
  readonly dur?: number;
  readonly cat?: string;
  readonly id?: string;
  readonly bp?: 'e';
  readonly s?: 't' | 'p';
  readonly args?: object;
}

type Of<TType extends RecordedLine['type']> = Extract<RecordedLine, { type: TType }>;

export function perfettoOf(lines: ReadonlyArray<RecordedHeader | RecordedLine>): {
  traceEvents: readonly TraceEvent[];
} {
  const trace = new Trace();
  for (const line of lines) if (line.type !== 'recording') trace.see(line);
  return { traceEvents: trace.end() };
}

class Trace {
  readonly #events: TraceEvent[] = [];
  readonly #pids = new Map<string, number>();
  readonly #tids = new Map<string, number>();
  readonly #states = new Map<string, { state: string; since: number; node: string }>();
  #endsAt = 0;

  see(line: RecordedLine): void {
    const { at, node } = line;
    this.#endsAt = Math.max(this.#endsAt, at);
    if (line.type === 'turn') this.#turn(line);
    else if (line.type === 'message') {
      const { from, counter, to, event } = line;
      const flow = { ph: 's' as const, id: `${from}#${counter}>${to}`, ts: at * 1_000 };
      this.#events.push({ name: event, cat: 'message', ...flow, ...this.#thread(node, from) });
    } else if (line.type === 'lease') this.#note(`lease ${line.change}`, node, at);
    else if (line.type === 'link') this.#note(`link to ${line.peer} ${line.change}`, node, at);
  }

  end(): readonly TraceEvent[] {
    for (const address of this.#states.keys()) this.#close(address, this.#endsAt);
    return this.#events;
  }

  #turn({
    at,
    node,
    address,
    state,
    event,
    from,
    counter,
    turn,
    takenAt,
    error,
  }: Of<'turn'>): void {
    const thread = this.#thread(node, address);
    if (this.#states.get(address)?.state !== state) {
      this.#close(address, at);
      this.#states.set(address, { state, since: at, node });
    }
    const args = { turn, event, ...(error !== undefined && { error }) };
    const ts = takenAt * 1_000;
    this.#events.push({ name: event.type, cat: 'turn', ph: 'i', s: 't', ...thread, ts, args });
    if (from === undefined || counter === undefined) return;
    const id = `${from}#${counter}>${address}`;
    this.#events.push({ name: event.type, cat: 'message', ph: 'f', bp: 'e', id, ...thread, ts });
  }

  #note(name: string, node: string, at: number): void {
    const pid = this.#process(node);
    this.#events.push({ name, cat: 'cluster', ph: 'i', s: 'p', pid, tid: 0, ts: at * 1_000 });
  }

  #close(address: string, at: number): void {
    const open = this.#states.get(address);
    if (open === undefined) return;
    const { node, state, since } = open;
    const dur = Math.max(1, (at - since) * 1_000);
    const thread = this.#thread(node, address);
    this.#events.push({ name: state, cat: 'state', ph: 'X', ...thread, ts: since * 1_000, dur });
  }

  #process(node: string): number {
    const known = this.#pids.get(node);
    if (known !== undefined) return known;
    const pid = this.#pids.size + 1;
    this.#pids.set(node, pid);
    this.#events.push({ name: 'process_name', ph: 'M', pid, tid: 0, args: { name: node } });
    return pid;
  }

  #thread(node: string, address: string): { readonly pid: number; readonly tid: number } {
    const pid = this.#process(node);
    const known = this.#tids.get(address);
    if (known !== undefined) return { pid, tid: known };
    const tid = this.#tids.size + 1;
    this.#tids.set(address, tid);
    this.#events.push({ name: 'thread_name', ph: 'M', pid, tid, args: { name: address } });
    return { pid, tid };
  }
}
