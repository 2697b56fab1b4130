/** Parameters of a query in a URL. */

import type { Parameters } from './lookup.ts';

/** Parameters of a URL; one that stands there several times is a list. */
export function parametersOf(query: URLSearchParams): Parameters {
  const parameters: Record<string, string | string[]> = Object.create(null);
  for (const name of new Set(query.keys())) {
    if (name === 'token') continue;
    const values = query.getAll(name);
    parameters[name] = values.length === 1 ? (values[0] as string) : values;
  }
  return parameters;
}
