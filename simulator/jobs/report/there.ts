/** Nodes and places of the topology of a plan. */

import { nodesOf } from '../names.ts';
import type { NodeSet, Plan } from '../plan.ts';

export class There {
  readonly #nodes: ReadonlySet<string>;
  readonly #places: ReadonlySet<string>;

  constructor({ topology }: Plan) {
    const nodes = nodesOf(topology);
    const gates = nodes.filter((node) => /^gate-\d+$/.test(node));
    this.#nodes = new Set(nodes);
    this.#places = new Set([...Object.keys(topology.datacenters), ...gates]);
  }

  hasPlace(name: string): boolean {
    return this.#places.has(name);
  }

  hasNode(name: string): boolean {
    return this.#nodes.has(name) || this.#places.has(name.replace(/\.\*$/, ''));
  }

  /** Clients are always there. */
  hasNodeOrClient(name: string): boolean {
    return this.hasNode(name) || name.startsWith('client-');
  }

  nodes(names: NodeSet): NodeSet {
    return names.filter((name) => this.hasNodeOrClient(name));
  }
}
