/**
 * Moments, lengths and values of a run in words for people.
 *
 * Guarantees: what comes of a value is one line of bounded length. Control characters in it are the
 * business of the code that prints it.
 */

/** `00:07:31.204`; below zero, while the cluster comes up, with a minus. */
export function moment(atMs: number): string {
  const ms = Math.abs(Math.trunc(atMs));
  const part = (size: number, of: number, digits: number): string =>
    String(Math.floor(ms / size) % of).padStart(digits, '0');
  const hours = String(Math.floor(ms / 3_600_000)).padStart(2, '0');
  const sign = atMs < 0 ? '-' : '';
  return `${sign}${hours}:${part(60_000, 60, 2)}:${part(1_000, 60, 2)}.${part(1, 1_000, 3)}`;
}

/** `1,500 ms`, `5 s`, `2 min`, `3 h`: the largest unit in which it is whole. */
export function length(ms: number): string {
  for (const [size, unit] of [
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ] as const)
    if (ms !== 0 && ms % size === 0) return `${(ms / size).toLocaleString('en-GB')} ${unit}`;
  return `${ms.toLocaleString('en-GB')} ms`;
}

/** `shop/node-1` for the node `shop.node-1` of the place `shop`; the cluster for what has no node. */
export function nodeName(node: string): string {
  return node === '' ? 'cluster' : node.replace(/\.([a-z]+-\d+)$/, '/$1');
}

/** `1,204 records`, `1 record`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en-GB')} ${number === 1 ? one : many}`;
}

/** Cut where it gets too long. */
export function short(text: string, lengthMax = 120): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > lengthMax ? `${line.slice(0, lengthMax - 1)}…` : line;
}

/** Whatever it is, as JSON and without what nobody would miss; empty for nothing. */
export function brief(value: unknown, lengthMax = 120): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text === '{}' ? '' : short(text, lengthMax);
}

/** The fields of an event beside its type; those that hold whole lists and tables last. */
export function fieldsOf(event: { readonly type: string }, lengthMax = 120): string {
  const { type: _, ...fields } = event;
  const told = Object.entries(fields)
    .filter(([, value]) => value !== null && value !== undefined)
    .sort(
      ([, one], [, other]) => Number(typeof one === 'object') - Number(typeof other === 'object'),
    )
    .map(([name, value]) => `${name}=${brief(value, 40)}`);
  return short(told.join(' '), lengthMax);
}

/** A state as text, JSON or not: `active(phase=paid, sending=off)`. */
export function stateName(state: string, lengthMax = 80): string {
  if (!state.startsWith('{')) return short(state, lengthMax);
  try {
    return short(regionsOf(JSON.parse(state)), lengthMax);
  } catch {
    return short(state, lengthMax);
  }
}

function regionsOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const regions = Object.entries(value);
  const [only] = regions;
  if (regions.length === 1 && only !== undefined) {
    const [name, below] = only;
    const deeper = regionsOf(below);
    return deeper === '' ? name : `${name}.${deeper}`;
  }
  const inner = regions.map(([name, below]) => {
    const deeper = regionsOf(below);
    return deeper === '' ? name : `${name}=${deeper}`;
  });
  return inner.length === 0 ? '' : `(${inner.join(', ')})`;
}

/** Senders without an address of people's making, by what they are. */
export function senderName(from: string): string {
  const [, session] = /^session:[^@]*@(.+)$/.exec(from) ?? [];
  if (session !== undefined) return nodeName(session);
  const [, effect] = /^effect:(.+)#[\d.]+$/.exec(from) ?? [];
  return effect === undefined ? from : `an effect of ${effect}`;
}
