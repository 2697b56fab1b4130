/**
 * Guard text: the names that stand in a guard of a machine, for people. Guards made of others are told by those.
 */

/** `fallback` stands for a function without a name. */
export function guardText(guard: unknown, fallback = 'a condition'): string {
  if (typeof guard === 'string') return guard;
  const { type, name, guards, check } = guard as {
    readonly type?: unknown;
    readonly name?: unknown;
    readonly guards?: readonly unknown[];
    readonly check?: unknown;
  };
  if (Array.isArray(guards)) {
    const names = guards.map((each) => guardText(each, fallback));
    return name === 'not' ? `not ${names[0]}` : names.join(name === 'or' ? ' or ' : ' and ');
  }
  if (typeof type === 'string') return type;
  if (typeof check === 'function') return String(name);
  return typeof name === 'string' && !['', 'guard'].includes(name) ? name : fallback;
}
