/**
 * The page: its head with what is looked at and how fresh it is, the panels, and the keys.
 */

import { useSignalEffect } from '@preact/signals';
import { render } from 'preact';
import { now, startTicking } from './core/clock.ts';
import { isHelpShown, KEYS, listenToKeys } from './core/keys.ts';
import { can, connect, connection, connectionWhy, hello, isPaused, skipped } from './core/live.ts';
import { href, type Panel, panel, route } from './core/route.ts';
import { clockTime, count, plain } from './core/words.ts';
import { ActorPanel } from './panels/actor.tsx';
import { ActorsPanel } from './panels/actors.tsx';
import { FailurePanel } from './panels/failure.tsx';
import { KindPanel } from './panels/kind.tsx';
import { LettersPanel } from './panels/letters.tsx';
import { OverviewPanel } from './panels/overview.tsx';
import { RunsPanel } from './panels/runs.tsx';
import { SequencePanel } from './panels/sequence.tsx';
import { TimelinePanel } from './panels/timeline.tsx';
import { TimeoutsPanel } from './panels/timeouts.tsx';
import { DemoBar } from './panels/tour.tsx';

const LINKS: ReadonlyArray<readonly [Panel, string]> = [
  ['failure', 'Failure'],
  ['overview', 'Overview'],
  ['runs', 'Runs'],
  ['actors', 'Actors'],
  ['timeline', 'Timeline'],
  ['timeouts', 'Timeouts'],
  ['letters', 'Undelivered'],
];

function Page() {
  useSignalEffect(() => {
    document.title = `${plain(route.value.subject || panel.value).slice(0, 100)} · Escapement`;
  });
  const { subject } = route.value;
  return (
    <>
      <Head />
      <main key={`${panel.value} ${subject}`}>
        {panel.value === 'overview' && <OverviewPanel />}
        {panel.value === 'actors' && <ActorsPanel />}
        {panel.value === 'actor' && <ActorPanel />}
        {panel.value === 'kind' && <KindPanel />}
        {panel.value === 'timeline' && <TimelinePanel key={route.value.params.toString()} />}
        {panel.value === 'sequence' && <SequencePanel />}
        {panel.value === 'timeouts' && <TimeoutsPanel />}
        {panel.value === 'letters' && <LettersPanel />}
        {panel.value === 'runs' && <RunsPanel />}
        {panel.value === 'failure' && <FailurePanel />}
      </main>
      <DemoBar />
      {isHelpShown.value && <Help />}
    </>
  );
}

function Head() {
  const { title = '', role } = hello.value ?? {};
  return (
    <header class="page-head">
      <a class="brand" href={href('overview')} title="Escapement inspector">
        <svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
          <circle cx="8" cy="8" r="6.5" />
          <path d="M8 4v4l3 2" />
        </svg>
        <span class="brand-name">{plain(title) || 'Escapement'}</span>
        {role !== undefined && role !== 'node' && role !== title && <small>{role}</small>}
      </a>
      <nav aria-label="Panels">
        {LINKS.filter(([name]) => isThere(name)).map(([name, label]) => (
          <a
            key={name}
            href={href(name)}
            aria-current={
              panel.value === name || (name === 'actors' && panel.value === 'actor')
                ? 'page'
                : undefined
            }
          >
            {label}
          </a>
        ))}
      </nav>
      <Freshness />
    </header>
  );
}

/** Panels that only some sources have. */
function isThere(name: Panel): boolean {
  if (name === 'failure') return hello.value?.failure !== undefined;
  return name !== 'runs' || can('runs');
}

function Freshness() {
  const state = isPaused.value ? 'paused' : connection.value;
  const words = {
    paused: 'stopped, press space to go on',
    live: hello.value?.source === 'live' ? 'live' : 'at rest',
    connecting: 'connecting…',
    lost: 'the node is gone; trying again',
    ended: 'ended',
    tooNew: 'another version: reload the page',
  }[state];
  return (
    <div class={`freshness ${state}`} role="status" title={connectionWhy.value}>
      <span class="dot" aria-hidden="true" />
      <span>{words}</span>
      {now.value > 0 && (
        <time
          class="server-time"
          title={hello.value?.range === undefined ? "The server's time" : 'The last moment of it'}
        >
          {clockTime(now.value)}
        </time>
      )}
      {skipped.value > 0 && (
        <small
          class="late"
          title="The page was too slow for these; what is shown was asked for again"
        >
          skipped {count(skipped.value)}
        </small>
      )}
      <button
        type="button"
        class="quiet"
        aria-label="Keys and about"
        aria-expanded={isHelpShown.value}
        onClick={() => {
          isHelpShown.value = !isHelpShown.value;
        }}
      >
        ?
      </button>
    </div>
  );
}

function Help() {
  return (
    <div class="help" role="dialog" aria-label="Keys and about">
      <h2>Keys</h2>
      <dl>
        {KEYS.map(([key, words]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <h2>About</h2>
      <p>
        Escapement {hello.value?.version}. Charts are laid out by elkjs 0.12.1, an unmodified file
        of its own ( EPL-2.0; source: github.com/kieler/elkjs). The page is made with Preact (MIT).
        It loads nothing from elsewhere.
      </p>
      <button
        type="button"
        ref={(button) => button?.focus()}
        onClick={() => {
          isHelpShown.value = false;
        }}
      >
        Close
      </button>
    </div>
  );
}

const root = document.getElementById('page');
if (root !== null) {
  root.replaceChildren();
  listenToKeys();
  startTicking();
  connect();
  render(<Page />, root);
}
