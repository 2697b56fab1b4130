/**
 * Turns of an actor: its history, what each changed, and the way back through them.
 */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { TurnLine, TurnsPage } from '../../protocol.ts';
import { ask } from '../core/api.ts';
import { differences } from '../core/diff.ts';
import { onListKeys, onTurnKeys } from '../core/keys.ts';
import { generation, isPaused, useWatch } from '../core/live.ts';
import { route, setParams } from '../core/route.ts';
import { duration, moment, plain, stateText, timeOfDay } from '../core/words.ts';
import { leaf } from '../parts/json.tsx';
import { ActorLink, Empty, Note } from '../parts/marks.tsx';
import { Rows } from '../parts/rows.tsx';
import { ShownValue } from './actor-side.tsx';

export interface Turns {
  /** Oldest first. */
  readonly all: readonly TurnLine[];
  readonly hasOlder: boolean;
  readonly howToRecord: string | undefined;
  readonly error: string | undefined;
  readonly isAsked: boolean;
  readonly older: () => void;
}

const PAGE = 200;
const KEPT_MAX = 5_000;

/** The last turns of an actor, and those it takes while it is looked at. */
export function useTurns(address: string): Turns {
  const all = useSignal<readonly TurnLine[]>([]);
  const before = useSignal<number | undefined>(undefined);
  const howToRecord = useSignal<string | undefined>(undefined);
  const error = useSignal<string | undefined>(undefined);
  const isAsked = useSignal(false);
  const load = (until: number | undefined): void => {
    const params = { address, limit: String(PAGE), before: until?.toString() };
    ask<TurnsPage>('turns', params).then(
      (page) => {
        all.value = until === undefined ? page.turns : [...page.turns, ...all.peek()];
        before.value = page.before;
        howToRecord.value = page.howToRecord;
        error.value = undefined;
        isAsked.value = true;
      },
      (thrown: Error) => {
        error.value = thrown.message;
        isAsked.value = true;
      },
    );
  };
  useEffect(() => load(undefined), [address, generation.value]);
  useWatch({ turns: [address] }, (frame) => {
    if (frame.type !== 'turns' || isPaused.peek()) return;
    const last = all.peek().at(-1)?.turn ?? 0;
    const news = frame.turns.filter((turn) => turn.address === address && turn.turn > last);
    if (news.length > 0) all.value = [...all.peek(), ...news].slice(-KEPT_MAX);
  });
  useEffect(
    () =>
      onTurnKeys((by) => {
        const shown = route.peek().params.get('turn');
        const turns = all.peek();
        const at =
          shown === null ? turns.length : turns.findIndex(({ turn }) => turn === Number(shown));
        const next = turns[Math.max(0, at + by)];
        setParams({ turn: next === undefined ? undefined : String(next.turn) });
      }),
    [address],
  );
  return {
    all: all.value,
    hasOlder: before.value !== undefined,
    howToRecord: howToRecord.value,
    error: error.value,
    isAsked: isAsked.value,
    older: () => load(before.peek()),
  };
}

/** The state after a turn: histories tell it only where it changed. */
export function stateAt(turns: readonly TurnLine[], { turn }: TurnLine): string | undefined {
  return turns.findLast((each) => each.turn <= turn && each.state !== undefined)?.state;
}

export function TurnsTab({ turns, selected }: { turns: Turns; selected: TurnLine | undefined }) {
  const { all } = turns;
  const newestFirst = all.toReversed();
  const index =
    selected === undefined ? -1 : newestFirst.findIndex(({ turn }) => turn === selected.turn);
  useEffect(
    () =>
      onListKeys({
        move: (by) => {
          const next = newestFirst[Math.max(0, Math.min(newestFirst.length - 1, index + by))];
          if (next !== undefined) setParams({ turn: String(next.turn) });
        },
        open: () => {},
      }),
    [index, all.length],
  );
  if (turns.error !== undefined) return <Note sort="failed">{turns.error}</Note>;
  if (all.length === 0)
    return turns.isAsked ? (
      <Empty title="No turn is in its history">
        <p>{turns.howToRecord}</p>
      </Empty>
    ) : (
      <Note>Asking for its turns…</Note>
    );
  return (
    <div class="turns">
      {turns.howToRecord !== undefined && <Note>{turns.howToRecord}</Note>}
      <div class="row heads turn">
        <span>Turn</span>
        <span>Time</span>
        <span>Event</span>
        <span>State afterwards</span>
        <span>Asked for</span>
      </div>
      <Rows
        count={newestFirst.length}
        height={32}
        label="Turns, the newest first"
        selected={index}
        row={(at) => {
          const turn = newestFirst[at];
          return turn === undefined ? null : <Line turn={turn} isSelected={at === index} />;
        }}
      />
      {turns.hasOlder && (
        <button type="button" onClick={turns.older}>
          Older turns
        </button>
      )}
      {selected !== undefined && (
        <Detail turn={selected} before={all.findLast(({ turn }) => turn < selected.turn)} />
      )}
    </div>
  );
}

function Line({ turn, isSelected }: { turn: TurnLine; isSelected: boolean }) {
  const { event, at, state, did = [], error, dueAt } = turn;
  return (
    <button
      type="button"
      class={`row turn ${isSelected ? 'selected' : ''} ${error === undefined ? '' : 'failed'}`}
      onClick={() => setParams({ turn: isSelected ? undefined : String(turn.turn) })}
      data-turn={turn.turn}
    >
      <span>{turn.turn}</span>
      <time title={moment(at)}>{timeOfDay(at)}</time>
      <span class={dueAt === undefined ? '' : 'late'} title={plain(event)}>
        {eventName(event)}
      </span>
      <span title={state === undefined ? undefined : stateText(state)}>
        {error !== undefined ? plain(error.message) : state === undefined ? '' : stateText(state)}
      </span>
      <span class="soft" title={did.map(plain).join('\n')}>
        {did.map(plain).join(', ')}
      </span>
    </button>
  );
}

/** A deadline by its name and its state. */
function eventName(event: string): string {
  const [, delay, state] = /^xstate\.after\.([^.]+)\.(.*)$/.exec(event) ?? [];
  if (delay === undefined) return plain(event);
  return plain(`after ${delay} (${(state ?? '').split('.').slice(-2).join('.')})`);
}

function Detail({ turn, before }: { turn: TurnLine; before: TurnLine | undefined }) {
  const { from, counter, dueAt, at, payload, did = [], error, context, by, state } = turn;
  const changes =
    context === undefined || before?.context === undefined
      ? undefined
      : differences(before.context.value, context.value);
  return (
    <section class="turn-detail" aria-label={`Turn ${turn.turn}`}>
      <h3>
        Turn {turn.turn}: {eventName(turn.event)}
      </h3>
      <dl>
        <dt>From</dt>
        <dd>
          {from === undefined ? (
            dueAt === undefined ? (
              'outside'
            ) : (
              'its own deadline'
            )
          ) : (
            <>
              <ActorLink address={from} tab="turns" />{' '}
              {counter !== undefined && counter > 0 && (
                <small class="soft">message {counter}</small>
              )}
            </>
          )}
          {by !== undefined && ` by ${plain(by)}`}
        </dd>
        {dueAt !== undefined && (
          <>
            <dt>Was due</dt>
            <dd>
              {timeOfDay(dueAt)}, taken {duration(at - dueAt)} later
            </dd>
          </>
        )}
        {state !== undefined && (
          <>
            <dt>State</dt>
            <dd>{stateText(state)}</dd>
          </>
        )}
        {did.length > 0 && (
          <>
            <dt>Asked for</dt>
            <dd>
              {did.map((line) => (
                <div key={line}>{plain(line)}</div>
              ))}
            </dd>
          </>
        )}
        {error !== undefined && (
          <>
            <dt>Failed</dt>
            <dd class="failed">
              {plain(error.code)}: {plain(error.message)}
            </dd>
          </>
        )}
      </dl>
      {payload !== undefined && (
        <>
          <h4>Event</h4>
          <ShownValue shown={payload} />
        </>
      )}
      {changes !== undefined && (
        <>
          <h4>Changed in the context</h4>
          {changes.length === 0 && <p class="calm">Nothing.</p>}
          <ul class="diff">
            {changes.map(({ path, ...values }) => (
              <li key={path}>
                <span class="json-name">{plain(path)}</span>
                {'before' in values && <del>{short(values.before)}</del>}
                {'after' in values && <ins>{short(values.after)}</ins>}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

const short = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? plain(JSON.stringify(value)).slice(0, 300)
    : leaf(value);
