/**
 * Drawn deadlines: those that an actor waits for in a state, read from the drawing of its machine alone; no
 * machine is run. Every machine of the jobs system waits by `after` only.
 */

/** The part of a machine's drawing that says what it waits for. */
export interface Drawing {
  readonly id?: string;
  readonly after?: Readonly<Record<string, unknown>>;
  readonly states?: Readonly<Record<string, Drawing>>;
}

/** Deadlines by drawing and state; a machine has few states. */
const known = new WeakMap<Drawing, Map<string, ReadonlySet<string>>>();

/** Their names; `state` is the state as text, as rows of the index have it. */
export function drawnDeadlines(drawing: Drawing, state: string): ReadonlySet<string> {
  const ofDrawing = known.get(drawing) ?? new Map<string, ReadonlySet<string>>();
  known.set(drawing, ofDrawing);
  const found = ofDrawing.get(state);
  if (found !== undefined) return found;
  const names = new Set<string>();
  collect(drawing, state.startsWith('{') ? JSON.parse(state) : state, drawing.id ?? '', names);
  ofDrawing.set(state, names);
  return names;
}

function collect(drawing: Drawing, value: unknown, path: string, names: Set<string>): void {
  for (const delay of Object.keys(drawing.after ?? {})) names.add(`xstate.after.${delay}.${path}`);
  const below = typeof value === 'string' ? { [value]: {} } : ((value ?? {}) as object);
  for (const [name, inside] of Object.entries(below)) {
    const state = drawing.states?.[name];
    if (state !== undefined) collect(state, inside, `${path}.${name}`, names);
  }
}
