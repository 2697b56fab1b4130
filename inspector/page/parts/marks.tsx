/**
 * Small parts that every panel uses: moments, countdowns, states, links to actors, notes, and what is missing.
 */

import type { ComponentChildren } from 'preact';
import type { Missing } from '../../protocol.ts';
import { now } from '../core/clock.ts';
import { actorHref, href } from '../core/route.ts';
import { addressParts, ago, countdown, counted, moment, plain, stateText } from '../core/words.ts';

/** How long ago, with the moment itself for those who rest the pointer on it. */
export function Ago({ at }: { at: number }) {
  return <time title={moment(at)}>{ago(at, now.value)}</time>;
}

export function Countdown({ dueAt, armedAt }: { dueAt: number; armedAt?: number | undefined }) {
  const present = now.value;
  const isLate = dueAt < present;
  const share =
    armedAt === undefined
      ? undefined
      : Math.min(1, (present - armedAt) / Math.max(1, dueAt - armedAt));
  return (
    <span
      class={`countdown ${isLate ? 'late' : ''}`}
      title={`due ${moment(dueAt)}`}
      data-due={dueAt}
    >
      {countdown(dueAt, present)}
      {share !== undefined && (
        <span class="share" aria-hidden="true">
          <span style={{ transform: `scaleX(${Math.max(0, share)})` }} />
        </span>
      )}
    </span>
  );
}

export function State({ state, status }: { state: string; status?: string }) {
  const text = stateText(state);
  return (
    <span class={`state-name ${status ?? ''}`} title={text}>
      {text}
    </span>
  );
}

export function ActorLink({ address, tab }: { address: string; tab?: string }) {
  const { kind, key, place } = addressParts(address);
  return (
    <a class="actor-link" href={actorHref(address, tab)} title={plain(address).slice(0, 500)}>
      <span class="soft">{plain(kind)}/</span>
      {plain(key)}
      {place !== '' && <span class="soft">@{plain(place)}</span>}
    </a>
  );
}

export function KindLink({ kind }: { kind: string }) {
  return <a href={href('kind', kind)}>{plain(kind)}</a>;
}

export function Note({ children, sort = '' }: { children: ComponentChildren; sort?: string }) {
  return <p class={`note ${sort}`}>{children}</p>;
}

/** A state of the page that says why there is nothing, and what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h3>{title}</h3>
      {children}
    </div>
  );
}

export function MissingNodes({ missing }: { missing: Missing | undefined }) {
  if (missing === undefined || missing.length === 0) return null;
  return (
    <details class="missing">
      <summary>
        Without {counted(missing.length, 'node')}:{' '}
        {missing
          .slice(0, 3)
          .map(({ node }) => plain(node))
          .join(', ')}
        {missing.length > 3 && ' and others'}
      </summary>
      <ul>
        {missing.map(({ node, why }) => (
          <li key={node}>
            {plain(node)}: {plain(why)}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** A button that says why it cannot be pressed. */
export function Deed({
  onClick,
  why,
  children,
  title,
}: {
  onClick: () => void;
  why?: string | undefined;
  children: ComponentChildren;
  title?: string;
}) {
  return (
    <button type="button" onClick={onClick} disabled={Boolean(why)} title={why || title}>
      {children}
    </button>
  );
}
