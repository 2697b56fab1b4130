/**
 * Overview: what needs somebody, how much goes on, which kinds and nodes there are. Each number leads to its list.
 */

import type { KindLine, NodeLine, Overview } from '../../protocol.ts';
import { useAnswer } from '../core/api.ts';
import { generation, hello, overview as told, useWatch } from '../core/live.ts';
import { href, type Panel } from '../core/route.ts';
import { count, counted, duration, plain, stateText } from '../core/words.ts';
import {
  ActorLink,
  Countdown,
  Empty,
  KindLink,
  MissingNodes,
  Note,
  State,
} from '../parts/marks.tsx';
import { Plot } from '../parts/plot.tsx';

const WINDOW = '5m';

export function OverviewPanel() {
  useWatch({ overview: WINDOW });
  const asked = useAnswer<Overview>('overview', {
    window: WINDOW,
    round: String(generation.value),
  });
  const overview = told.value ?? asked.answer;
  if (overview === undefined)
    return asked.error === undefined ? (
      <Note>Asking {plain(hello.value?.title ?? 'the node')}…</Note>
    ) : (
      <Empty title="No overview">
        <p>{asked.error}</p>
      </Empty>
    );
  const isAtRest = hello.value?.range !== undefined;
  const actors = overview.kinds.reduce((sum, { active, ended }) => sum + active + ended, 0);
  return (
    <div class="panel overview">
      <h2 class="hidden">Overview</h2>
      <MissingNodes missing={overview.missing} />
      <Attention overview={overview} />
      <section aria-label="Rates">
        <h3>
          {isAtRest
            ? `All of it, ${duration(overview.windowMs)}`
            : `The last ${counted(Math.round(overview.windowMs / 60_000), 'minute')}`}
        </h3>
        <div class="plots">
          {PLOTS.map(([title, name, sort]) => (
            <Plot
              key={name}
              title={name === 'messages' && isAtRest ? 'Messages' : title}
              series={overview.rates[name]}
              windowMs={overview.windowMs}
              sort={sort}
            />
          ))}
        </div>
      </section>
      {actors === 0 ? (
        <Empty title="There are no actors yet">
          <p>
            {overview.kinds.length === 0
              ? 'No kind is registered on this node.'
              : `Registered: ${overview.kinds.map(({ kind }) => plain(kind)).join(', ')}.`}{' '}
            The page shows them as they begin.
          </p>
        </Empty>
      ) : (
        <Kinds kinds={overview.kinds} />
      )}
      <div class="columns">
        <Soonest soonest={overview.soonest} />
        <Nodes overview={overview} />
      </div>
    </div>
  );
}

const PLOTS: ReadonlyArray<readonly [string, keyof Overview['rates'], string]> = [
  ['Turns', 'turns', ''],
  ['Between nodes', 'messages', ''],
  ['Begun', 'births', ''],
  ['Ended', 'ends', ''],
  ['Deadlines', 'timeouts', 'late'],
  ['Failed turns', 'failed', 'failed'],
];

const SORTS: Readonly<Record<string, string>> = {
  question: 'late',
  overdue: 'late',
  stuck: 'late',
  silentPlace: 'late',
  failed: 'failed',
  stopped: 'failed',
  damaged: 'failed',
  undelivered: 'failed',
};

/** Panels behind what has no list of actors. */
const PANELS: Readonly<Partial<Record<string, Panel>>> = {
  undelivered: 'letters',
  question: 'runs',
  failed: 'timeline',
};

function Attention({ overview: { attention, undelivered } }: { overview: Overview }) {
  const lines = attention.filter((line) => line.count > 0);
  return (
    <section aria-label="Needs somebody">
      <h3>Needs somebody</h3>
      {lines.length === 0 && undelivered === 0 ? (
        <p class="calm">
          Nothing: no actor is stuck, overdue or stopped, and no message is undelivered.
        </p>
      ) : (
        <ul class="attention">
          {lines.map((line) => {
            const to =
              PANELS[line.sort] !== undefined
                ? href(PANELS[line.sort] as Panel)
                : `#/actors${line.list === '' ? '' : `?${line.list.replace(/^\?/, '')}`}`;
            const text = (
              <>
                <strong>
                  {count(line.count)}
                  {line.isAtLeast ? '+' : ''}
                </strong>
                <span>{plain(line.text)}</span>
              </>
            );
            return (
              <li key={line.sort} class={SORTS[line.sort]}>
                {line.list === '' && PANELS[line.sort] === undefined ? (
                  <span class="line">{text}</span>
                ) : (
                  <a class="line" href={to}>
                    {text}
                  </a>
                )}
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}

function Kinds({ kinds }: { kinds: readonly KindLine[] }) {
  const shown = kinds.filter(({ active, ended }) => active + ended > 0);
  const idle = kinds.filter(({ active, ended }) => active + ended === 0);
  return (
    <section aria-label="Kinds">
      <h3>Kinds</h3>
      <div class="table kinds">
        {shown.map(({ kind, version, active, ended, states, more }) => (
          <div class="kind" key={kind}>
            <div class="kind-name">
              <KindLink kind={kind} />
              <small>version {version}</small>
              <a href={href('actors', '', { kind, status: 'active' })}>{count(active)} active</a>
              {ended > 0 && (
                <a class="soft" href={href('actors', '', { kind, status: 'done' })}>
                  {count(ended)} ended
                </a>
              )}
            </div>
            <ul class="states">
              {states.slice(0, STATES_MAX).map((each) => (
                <li key={each.state}>
                  <a
                    href={href('actors', '', { kind, state: each.state })}
                    title={stateText(each.state)}
                  >
                    <meter
                      min={0}
                      max={active + ended}
                      value={each.count}
                      aria-label={`${each.count} in ${stateText(each.state)}`}
                    />
                    <b>{count(each.count)}</b> <span>{stateText(each.state)}</span>
                  </a>
                </li>
              ))}
              {states.length + more > STATES_MAX && (
                <li>
                  <a class="soft" href={href('kind', kind)}>
                    and{' '}
                    {counted(
                      states.length - Math.min(states.length, STATES_MAX) + more,
                      'other state',
                    )}
                  </a>
                </li>
              )}
            </ul>
          </div>
        ))}
      </div>
      {idle.length > 0 && (
        <p class="soft">
          Without actors:{' '}
          {idle.map(({ kind }, index) => [index > 0 && ', ', <KindLink kind={kind} key={kind} />])}
        </p>
      )}
    </section>
  );
}
const STATES_MAX = 4;

function Soonest({ soonest }: { soonest: Overview['soonest'] }) {
  return (
    <section aria-label="Due next">
      <h3>
        Due next{' '}
        <a class="more" href={href('actors', '', { sort: 'deadline' })}>
          all
        </a>
      </h3>
      {soonest.length === 0 ? (
        <p class="calm">No deadline is armed.</p>
      ) : (
        <ul class="lines">
          {soonest.slice(0, 10).map(({ address, state, dueAt }) => (
            <li key={address}>
              <Countdown dueAt={dueAt} />
              <ActorLink address={address} />
              <State state={state} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const HEALTH: Readonly<Record<NodeLine['health'], string>> = {
  up: 'up',
  lost: 'gone',
  refused: 'does not let this node ask',
  silent: 'does not answer',
};

function Nodes({ overview: { nodes, links, backlog } }: { overview: Overview }) {
  const down = links.filter(({ isUp }) => !isUp);
  return (
    <section aria-label="Nodes">
      <h3>Nodes</h3>
      <ul class="lines nodes">
        {nodes.map(({ node, place, role, isHosting, fence, health, why, actorsInMemory }) => (
          <li key={node} class={health === 'up' ? '' : 'late'}>
            <span class={`dot ${health}`} aria-hidden="true" />
            <span class="node-name" title={plain(node)}>
              {plain(node)}
              {role !== undefined && role !== 'node' && <small> {role}</small>}
            </span>
            <span class="soft" title={why}>
              {health !== 'up'
                ? `${HEALTH[health]}${why === undefined ? '' : `: ${plain(why)}`}`
                : isHosting
                  ? `hosts ${plain(place)}, fence ${fence}`
                  : `stands by for ${plain(place)}`}
              {health === 'up' &&
                actorsInMemory !== undefined &&
                `, ${counted(actorsInMemory, 'actor')} in memory`}
            </span>
          </li>
        ))}
      </ul>
      {down.length > 0 && (
        <Note sort="late">
          Links down: {down.map(({ from, to }) => `${plain(from)} to ${plain(to)}`).join(', ')}.
        </Note>
      )}
      {backlog
        .filter((line) => line.count > 0)
        .map((line) => (
          <p class={line.isSilent ? 'late' : 'soft'} key={line.place}>
            {counted(line.count, 'message')} {line.count === 1 ? 'waits' : 'wait'} for{' '}
            {plain(line.place)}
            {line.isSilent ? ', which does not answer' : ''}.
          </p>
        ))}
    </section>
  );
}
