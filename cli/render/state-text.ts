/** States within states, as text: `tracking: overallLimit armed, silenceLimit armed`. */

export function stateText(state = ''): string {
  if (!state.startsWith('{')) return state;
  try {
    return nested(JSON.parse(state));
  } catch {
    return state;
  }
}

function nested(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, inner]) =>
      typeof inner === 'object' ? `${name}: ${nested(inner)}` : `${name} ${String(inner)}`,
    )
    .join(', ');
}
