/**
 * Route: what the page shows, whole, in the fragment of its URL, so that a view can be kept and sent.
 *
 * `#/actors?kind=job&sort=deadline`, `#/actor/job%2Fj1%40A?tab=turns&turn=12`. The server never sees it.
 */

import { computed, signal } from '@preact/signals';

export const PANELS = [
  'overview',
  'actors',
  'actor',
  'kind',
  'timeline',
  'sequence',
  'timeouts',
  'letters',
  'runs',
  'failure',
] as const;
export type Panel = (typeof PANELS)[number];

export interface Route {
  readonly panel: Panel;
  /** Address of an actor, or name of a kind. */
  readonly subject: string;
  readonly params: URLSearchParams;
}

export const route = signal<Route>(routeOf(location.hash));
export const panel = computed(() => route.value.panel);

addEventListener('hashchange', () => {
  route.value = routeOf(location.hash);
});

export function href(
  to: Panel,
  subject = '',
  params: Record<string, string | undefined> = {},
): string {
  const given = Object.entries(params).filter((entry): entry is [string, string] =>
    Boolean(entry[1]),
  );
  const query = new URLSearchParams(given).toString();
  const path = subject === '' ? to : `${to}/${encodeURIComponent(subject)}`;
  return `#/${path}${query === '' ? '' : `?${query}`}`;
}

export const actorHref = (address: string, tab?: string): string => href('actor', address, { tab });

/** Goes there at once: a key that follows acts on the view that it was pressed for. */
export function go(to: string): void {
  location.hash = to;
  route.value = routeOf(to);
}

/** Opens a view where the URL names none. */
export function openAt(view: string): void {
  if (!/^#?\/?$/.test(location.hash)) return;
  history.replaceState(null, '', view);
  route.value = routeOf(view);
}

/** Sets parameters of the present view; an empty one is taken away. Without an entry in the browser's history. */
export function setParams(changes: Record<string, string | undefined>): void {
  const { panel: at, subject, params } = route.value;
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes))
    if (value === undefined || value === '') next.delete(name);
    else next.set(name, value);
  const to = href(at, subject, Object.fromEntries(next));
  history.replaceState(null, '', to);
  route.value = routeOf(to);
}

function routeOf(hash: string): Route {
  const [path = '', query = ''] = split(hash.replace(/^#\/?/, ''), '?');
  const [name = '', subject = ''] = split(path, '/');
  const known = PANELS.find((each) => each === name);
  return {
    panel: known ?? 'overview',
    subject: decoded(subject),
    params: new URLSearchParams(query),
  };
}

function split(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
