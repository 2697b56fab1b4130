/**
 * Keys of the whole page. A panel with a list or with turns says what `j`, `k`, Enter and the arrows do there; fields
 * that somebody writes in keep their keys.
 */

import { signal } from '@preact/signals';
import { isPaused } from './live.ts';
import { go, href, route, setParams } from './route.ts';

export const isHelpShown = signal(false);

interface ListKeys {
  readonly move: (by: number) => void;
  readonly open: () => void;
}
let list: ListKeys | undefined;
let turns: ((by: number) => void) | undefined;

/** Returns the function that takes them away. */
export function onListKeys(keys: ListKeys): () => void {
  list = keys;
  return () => {
    if (list === keys) list = undefined;
  };
}

export function onTurnKeys(step: (by: number) => void): () => void {
  turns = step;
  return () => {
    if (turns === step) turns = undefined;
  };
}

export const KEYS: ReadonlyArray<readonly [string, string]> = [
  ['/', 'filter the actors'],
  ['j  k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['←  →', 'previous and next turn of an actor'],
  ['space', 'stop and go on: what is shown stays as it is'],
  ['o  a  t  d  r', 'overview, actors, timeline, timeouts, runs'],
  ['+  −  and arrows', 'zoom and move a chart or a timeline that has the focus'],
  [',  .', 'previous and next event of a lane; Enter opens its turn'],
  ['Esc', 'close what is open, back to now'],
  ['?', 'these keys'],
];

const PLACES: Readonly<Record<string, string>> = {
  o: href('overview'),
  a: href('actors'),
  t: href('timeline'),
  d: href('timeouts'),
  r: href('runs'),
};

export function listenToKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    const isField = /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
    if (isField) {
      if (event.key === 'Escape') target.blur();
      return;
    }
    if (act(event.key, target)) event.preventDefault();
  });
}

/** True when the key did something here. */
function act(key: string, target: HTMLElement): boolean {
  const isButton = /^(BUTTON|A|SUMMARY)$/.test(target.tagName);
  if (key === '?') isHelpShown.value = !isHelpShown.value;
  else if (key === 'Escape') {
    if (isHelpShown.value) isHelpShown.value = false;
    else if (route.peek().params.has('turn')) setParams({ turn: undefined });
    else return false;
  } else if (key === '/') focusFilter();
  else if (key === ' ' && !isButton) isPaused.value = !isPaused.value;
  else if (key === 'j' && list) list.move(1);
  else if (key === 'k' && list) list.move(-1);
  else if (key === 'Enter' && list && !isButton) list.open();
  else if (key === 'ArrowLeft' && turns) turns(-1);
  else if (key === 'ArrowRight' && turns) turns(1);
  else if (PLACES[key] !== undefined) go(PLACES[key]);
  else return false;
  return true;
}

let isFilterAsked = false;

function focusFilter(): void {
  const field = document.getElementById('filter');
  isFilterAsked = field === null;
  if (field !== null) field.focus();
  else go(href('actors'));
}

/** Ref of the field that `/` goes to: a field that is drawn after the key takes the focus as it is drawn. */
export function filterField(field: HTMLElement | null): void {
  if (field === null || !isFilterAsked) return;
  isFilterAsked = false;
  field.focus();
}
