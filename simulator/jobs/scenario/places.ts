/**
 * The names that steps of a scenario file may use: nodes, datacenters, gates, and patterns of them.
 */

import type { Field } from '../../../reading/field.ts';
import {
  datacenterOf,
  GATE,
  gatesOf,
  nodesIn,
  nodesOf,
  toNodeName,
  toShownName,
} from '../names.ts';
import type { Topology } from '../plan.ts';

type Role = 'manager' | 'worker';

export class Places {
  readonly datacenters: readonly string[];
  readonly #topology: Topology;
  readonly #gates: readonly string[];
  /** As files write them. */
  readonly #nodes: readonly string[];

  constructor(topology: Topology) {
    this.#topology = topology;
    this.datacenters = Object.keys(topology.datacenters);
    this.#gates = gatesOf(topology);
    this.#nodes = nodesOf(topology).map(toShownName);
  }

  /** As files write them. */
  get workers(): readonly string[] {
    return this.#nodes.filter((node) => isOf(node, 'worker'));
  }

  /** One node, under its own name. */
  node(field: Field | undefined, role?: Role): string | undefined {
    const shown = this.shown(field, role);
    return shown === undefined ? undefined : toNodeName(shown);
  }

  /** One node, as files write it. */
  shown(field: Field | undefined, role?: Role): string | undefined {
    const known = this.#nodes.filter((node) => role === undefined || isOf(node, role));
    return field?.name(known, role === undefined ? 'a node' : `a ${role}`);
  }

  datacenter(field: Field | undefined): string | undefined {
    return field?.name(this.datacenters, 'a datacenter');
  }

  /** A datacenter, or a gate's node; `gate` is the first one. */
  jobsService(field: Field | undefined): string | undefined {
    const gates = this.#gates.length === 0 ? [] : [GATE, ...this.#gates];
    const place = field?.name([...this.datacenters, ...gates], 'a datacenter or "gate"');
    return place === GATE ? this.#gates[0] : place;
  }

  isGate(place: string): boolean {
    return this.#gates.includes(place);
  }

  /** Nodes by a name, a datacenter's for all of its nodes, or with `*` for any part of a name. */
  nodes(field: Field | undefined): readonly string[] {
    if (field === undefined) return [];
    const text = field.text(/^[^\s]{1,200}$/, 'a node, a datacenter or a pattern such as "A/*"');
    if (text === undefined) return [];
    if (this.datacenters.includes(text)) return nodesIn(this.#topology, text);
    const found = text.includes('*')
      ? this.#nodes.filter((node) => isLike(node, text))
      : this.#nodes.filter((node) => node === text);
    if (found.length > 0) return found.map(toNodeName);
    if (text.includes('*')) field.wrong('must match a node');
    else field.name([...this.#nodes, ...this.datacenters], 'a node or a datacenter');
    return [];
  }

  /** The datacenter of a manager or a worker. */
  of(node: string): string | undefined {
    return datacenterOf(node);
  }
}

const isOf = (shown: string, role: Role): boolean => shown.includes(`/${role}-`);

/** `*` stands for anything within a datacenter, so it crosses no slash. */
function isLike(name: string, pattern: string): boolean {
  const names = name.split('/');
  const patterns = pattern.split('/');
  return (
    names.length === patterns.length &&
    patterns.every((part, index) => isPartLike(names[index] as string, part))
  );
}

/** Without a regular expression: the pattern is somebody else's. */
function isPartLike(text: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  if (others.length === 0) return text === pattern;
  const last = others.pop() as string;
  if (!text.startsWith(first) || text.length < first.length + last.length) return false;
  if (!text.endsWith(last)) return false;
  let from = first.length;
  for (const part of others) {
    const at = text.indexOf(part, from);
    if (at < 0 || at + part.length > text.length - last.length) return false;
    from = at + part.length;
  }
  return true;
}
