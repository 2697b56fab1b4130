/**
 * Nodes of a recording as lanes: their lives, the places they led and under which fence, and what was done to them.
 * Pure.
 */

import type { Lane, LaneBar, RecordedHeader, RecordedLine } from '../protocol.ts';

interface Open {
  readonly from: number;
  readonly label: string;
}

interface NodeBars {
  readonly bars: LaneBar[];
  life: (Open & { readonly sort: 'life' | 'pause' }) | undefined;
  lease: Open | undefined;
}

export class RecordedCluster {
  readonly #nodes = new Map<string, NodeBars>();
  readonly #faults: Lane[] = [];

  see(line: RecordedHeader | RecordedLine): void {
    if (line.type === 'recording') for (const { node } of line.nodes) this.#of(node);
    else if (line.type === 'node') this.#lived(line);
    else if (line.type === 'lease') this.#led(line);
    else if (line.type === 'fault') this.#struck(line);
  }

  /** Empty where nothing is known of any life or lease. */
  nodes(endAt: number): Lane[] {
    const lanes = [...this.#nodes].map(([node, { bars, life, lease }]): Lane => {
      const open = [
        ...(life === undefined ? [] : [barOf(life.sort, life, endAt)]),
        ...(lease === undefined ? [] : [barOf('lease', lease, endAt)]),
      ];
      return { address: node, node, state: '', bars: [...bars, ...open], marks: [], since: 0 };
    });
    return lanes.some(({ bars }) => bars.length > 0) ? lanes : [];
  }

  faults(endAt: number): Lane[] {
    return this.#faults.map((lane) => ({
      ...lane,
      bars: lane.bars.map((bar) => ({ ...bar, to: bar.to ?? endAt })),
    }));
  }

  #lived({ node, at, change, life }: Extract<RecordedLine, { type: 'node' }>): void {
    const own = this.#of(node);
    if (own.life !== undefined) own.bars.push(barOf(own.life.sort, own.life, at));
    own.life = undefined;
    if (change === 'started' || change === 'resumed')
      own.life = { sort: 'life', from: at, label: `life ${life}` };
    else if (change === 'paused') own.life = { sort: 'pause', from: at, label: 'paused' };
    else this.#endLease(own, at);
  }

  #led({ node, at, change, place, fence }: Extract<RecordedLine, { type: 'lease' }>): void {
    const own = this.#of(node);
    this.#endLease(own, at);
    if (change === 'acquired') own.lease = { from: at, label: `hosts ${place}, fence ${fence}` };
  }

  #endLease(own: NodeBars, at: number): void {
    if (own.lease !== undefined) own.bars.push(barOf('lease', own.lease, at));
    own.lease = undefined;
  }

  #struck({ at, to, id, kind, hits, node }: Extract<RecordedLine, { type: 'fault' }>): void {
    const label = `${kind}, changed something ${hits === 1 ? 'once' : `${hits} times`}`;
    const bar: LaneBar = { sort: 'fault', from: at, label, ...(to !== undefined && { to }) };
    this.#faults.push({
      address: `${kind} (${id})`,
      node,
      state: '',
      bars: [bar],
      marks: [],
      since: 0,
    });
  }

  #of(node: string): NodeBars {
    const own = this.#nodes.get(node) ?? { bars: [], life: undefined, lease: undefined };
    this.#nodes.set(node, own);
    return own;
  }
}

function barOf(sort: LaneBar['sort'], { from, label }: Open, to: number): LaneBar {
  return { sort, from, to, label };
}
