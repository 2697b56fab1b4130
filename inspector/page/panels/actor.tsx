/**
 * One actor: its head with the next deadline, and its chart, why, turns, timeline and messages behind tabs.
 *
 * Time travel is a turn in the URL: chart, context and turns show what was then, and nothing is changed by it.
 */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { activeStates } from '../../drawing/definition.ts';
import type { ActorAnswer, ActorDetail, KindDefinition, TurnLine } from '../../protocol.ts';
import { useAnswer } from '../core/api.ts';
import { now } from '../core/clock.ts';
import { definitionOf } from '../core/definitions.ts';
import { connection, details, generation, useWatch } from '../core/live.ts';
import { href, route, setParams } from '../core/route.ts';
import { addressParts, counted, duration, moment, plain, timeOfDay } from '../core/words.ts';
import { Chart } from '../parts/chart.tsx';
import { Countdown, Empty, KindLink, Note, State } from '../parts/marks.tsx';
import { ActorSide } from './actor-side.tsx';
import { SequencePanel } from './sequence.tsx';
import { TimelinePanel } from './timeline.tsx';
import { stateAt, TurnsTab, useTurns } from './turns.tsx';
import { WhyTab } from './why.tsx';

const TABS = [
  ['chart', 'Chart'],
  ['why', 'Why'],
  ['turns', 'Turns'],
  ['timeline', 'Timeline'],
  ['messages', 'Messages'],
] as const;

export function ActorPanel() {
  const address = route.value.subject;
  const asked = useAnswer<ActorAnswer>('actor', { address, round: String(generation.value) });
  useWatch({ actors: [address], turns: [address] });
  const told = details.value.get(address);
  const actor = told === undefined ? asked.answer?.actor : (told ?? undefined);
  const turns = useTurns(address);
  const wanted = route.value.params.get('tab');
  const [tab] = TABS.find(([name]) => name === wanted) ?? TABS[0];
  const travelTo = route.value.params.get('turn');
  const turn =
    travelTo === null ? undefined : turns.all.find((each) => each.turn === Number(travelTo));
  if (actor === undefined)
    return (
      <NoActor
        address={address}
        why={asked.answer?.why ?? asked.error}
        isAsked={asked.answer !== undefined || asked.error !== undefined}
      />
    );
  return (
    <div class="panel actor">
      <Head actor={actor} />
      {turn !== undefined && <Then turn={turn} turns={turns.all} />}
      <nav class="tabs" aria-label="Views of the actor">
        {TABS.map(([name, label]) => (
          <a
            key={name}
            href={href('actor', address, {
              tab: name === 'chart' ? undefined : name,
              turn: travelTo ?? undefined,
            })}
            aria-current={tab === name ? 'page' : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
      <div class={`actor-body ${tab}`}>
        <div class="actor-main">
          {tab === 'chart' && <ActorChart actor={actor} turn={turn} turns={turns.all} />}
          {tab === 'why' && <WhyTab address={address} turns={actor.turns} status={actor.status} />}
          {tab === 'turns' && <TurnsTab turns={turns} selected={turn} />}
          {tab === 'timeline' && <TimelinePanel addresses={[address]} />}
          {tab === 'messages' && <SequencePanel addresses={[address]} />}
        </div>
        <ActorSide actor={actor} turn={turn} />
      </div>
    </div>
  );
}

function NoActor({
  address,
  why,
  isAsked,
}: {
  address: string;
  why: string | undefined;
  isAsked: boolean;
}) {
  if (!isAsked) return <Note>Asking for {plain(address)}…</Note>;
  return (
    <Empty title="There is no such actor">
      <p class="address">{plain(address).slice(0, 500)}</p>
      <p>{plain(why ?? 'It was never begun here, or it has ended and was forgotten.')}</p>
      <p>
        <a href={`#/actors?kind=${encodeURIComponent(addressParts(address).kind)}`}>
          Other actors of its kind
        </a>
      </p>
    </Empty>
  );
}

const STATUS: Readonly<Record<ActorDetail['status'], string>> = {
  active: '',
  done: 'has ended',
  stopped: 'was stopped',
};

function Head({ actor }: { actor: ActorDetail }) {
  const { address, kind, key, place, status, state, deadlines, turns, turnAt, node, stopReason } =
    actor;
  const [next] = [...deadlines].sort((one, other) => one.dueAt - other.dueAt);
  return (
    <header class="actor-head">
      <h2 title={plain(address).slice(0, 500)}>
        <KindLink kind={kind} />
        <span class="soft">/</span>
        {plain(key)}
        <span class="soft">@{plain(place)}</span>
      </h2>
      <p class="actor-state">
        <State state={state} status={status} />
        {status !== 'active' && (
          <b class={status === 'stopped' ? 'failed' : ''}>{STATUS[status]}</b>
        )}
        {next !== undefined && status === 'active' && (
          <span class="next">
            <span class="soft">{plain(next.name)}</span>
            <Countdown dueAt={next.dueAt} armedAt={next.armedAt} />
          </span>
        )}
        <span class="soft">
          {counted(turns, 'turn')}, the last <time title={moment(turnAt)}>{timeOfDay(turnAt)}</time>
          , on {plain(node)}
        </span>
      </p>
      {stopReason !== undefined && <p class="failed">{plain(stopReason)}</p>}
      {connection.value === 'lost' && (
        <Note sort="late">The node is gone: this is what it said last.</Note>
      )}
    </header>
  );
}

/** A bar that says that the page shows a moment that has passed. */
function Then({ turn, turns }: { turn: TurnLine; turns: readonly TurnLine[] }) {
  const first = turns[0]?.turn ?? turn.turn;
  const last = turns.at(-1)?.turn ?? turn.turn;
  return (
    <div class="then" role="status">
      <span>
        After turn {turn.turn} of {last}, <time title={moment(turn.at)}>{timeOfDay(turn.at)}</time>:{' '}
        <b>{plain(turn.event)}</b>
      </span>
      <input
        type="range"
        min={first}
        max={last}
        value={turn.turn}
        aria-label="Turn"
        onInput={(event) => setParams({ turn: event.currentTarget.value })}
      />
      <button type="button" onClick={() => setParams({ turn: undefined })}>
        Back to now
      </button>
    </div>
  );
}

export function useDefinition(kind: string, hash?: string) {
  const found = useSignal<KindDefinition | undefined>(undefined);
  const error = useSignal<string | undefined>(undefined);
  useEffect(() => {
    let isWanted = true;
    definitionOf(kind, hash).then(
      (definition) => {
        if (!isWanted) return;
        found.value = definition;
        error.value = undefined;
      },
      (thrown: Error) => {
        if (isWanted) error.value = thrown.message;
      },
    );
    return () => {
      isWanted = false;
    };
    // A node that was away is asked again when it is back.
  }, [kind, hash, generation.value]);
  return { definition: found.value?.kind === kind ? found.value : undefined, error: error.value };
}

function ActorChart({
  actor,
  turn,
  turns,
}: {
  actor: ActorDetail;
  turn: TurnLine | undefined;
  turns: readonly TurnLine[];
}): ComponentChildren {
  const { definition, error } = useDefinition(actor.kind, actor.definition);
  // Once a second is enough for how long it has been in a state.
  const seconds = Math.floor(now.value / 1_000);
  if (error !== undefined)
    return (
      <Empty title="There is no chart">
        <p>{error}</p>
      </Empty>
    );
  if (definition === undefined) return <Note>Asking for the machine of {plain(actor.kind)}…</Note>;
  if (turn !== undefined) {
    const state = stateAt(turns, turn);
    return (
      <Chart
        definition={definition.chart}
        active={state === undefined ? [] : [...activeStates(valueOfText(state))]}
        taken={turn.transitions ?? []}
      />
    );
  }
  return (
    <Chart
      definition={definition.chart}
      active={actor.active}
      taken={actor.lastTransitions ?? []}
      deadlines={actor.deadlines}
      words={dwell(actor, seconds * 1_000)}
    />
  );
}

/** Time in each active state that has none in it. */
function dwell({ active, enteredAt, status }: ActorDetail, present: number) {
  const words = new Map<string, { text: string; title: string }>();
  if (status !== 'active') return words;
  const inner = active.filter(
    (id) => id !== '' && !active.some((other) => other.startsWith(`${id}.`)),
  );
  for (const id of inner) {
    const since = enteredAt[id];
    if (since === undefined || present < since) continue;
    words.set(id, { text: duration(present - since), title: `since ${moment(since)}` });
  }
  return words;
}

function valueOfText(state: string): unknown {
  try {
    return state.startsWith('{') ? JSON.parse(state) : state;
  } catch {
    return state;
  }
}
