/**
 * Shapes of partitions: which pairs of nodes do not reach each other.
 *
 * Guarantees: each is made of the list of nodes alone, in its order; who wants chance in it shuffles
 * the list. A shape is a list of pairs of sides: for `network.part` both ways are meant, and the one
 * of `oneWay` is for noise, from the first side to the second. Fewer than two nodes cannot be parted.
 */

/** Nobody of the one side reaches anybody of the other. */
export type Parting = readonly [side: readonly string[], other: readonly string[]];

/** Two halves; of an odd number the second has one more. */
export function halves(nodes: readonly string[]): readonly Parting[] {
  const middle = Math.floor(nodes.length / 2);
  return parted(nodes.slice(0, middle), nodes.slice(middle));
}

/** One node, or a few, from all others. */
export function isolated(alone: readonly string[], nodes: readonly string[]): readonly Parting[] {
  return parted(
    nodes.filter((node) => alone.includes(node)),
    nodes.filter((node) => !alone.includes(node)),
  );
}

/** Every node reaches the one before it and the one after it, the last one the first. */
export function ring(nodes: readonly string[]): readonly Parting[] {
  const last = nodes.length - 1;
  return pairsOf(nodes)
    .filter(([one, other]) => other - one > 1 && !(one === 0 && other === last))
    .map(([one, other]) => [[nodes[one] as string], [nodes[other] as string]]);
}

/** Two halves that only the node in the middle of the list reaches both of. */
export function bridge(nodes: readonly string[]): readonly Parting[] {
  const middle = Math.floor(nodes.length / 2);
  return parted(nodes.slice(0, middle), nodes.slice(middle + 1));
}

/** Every node alone. */
export function shattered(nodes: readonly string[]): readonly Parting[] {
  return pairsOf(nodes).map(([one, other]) => [[nodes[one] as string], [nodes[other] as string]]);
}

/** Nothing of the first half reaches the second, which is heard all the same. */
export function oneWay(nodes: readonly string[]): readonly Parting[] {
  return halves(nodes);
}

function parted(side: readonly string[], other: readonly string[]): readonly Parting[] {
  return side.length === 0 || other.length === 0 ? [] : [[side, other]];
}

function pairsOf(nodes: readonly string[]): Array<readonly [one: number, other: number]> {
  return nodes.flatMap((_, one) =>
    nodes.slice(one + 1).map((__, offset) => [one, one + 1 + offset] as const),
  );
}
