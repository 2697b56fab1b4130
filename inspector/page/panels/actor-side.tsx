/**
 * Beside an actor's views: its deadlines, what ends its states next, its context, what it waits for, and commands.
 */

import type { ActorDetail, Shown, TurnLine } from '../../protocol.ts';
import { reason } from '../core/live.ts';
import { bytes, counted, plain, stateEnd, timeOfDay } from '../core/words.ts';
import { Json } from '../parts/json.tsx';
import { ActorLink, Countdown, Note } from '../parts/marks.tsx';
import { Commands, CopyTest } from './commands.tsx';

export function ActorSide({ actor, turn }: { actor: ActorDetail; turn: TurnLine | undefined }) {
  return (
    <aside class="actor-side">
      {turn === undefined && <Deadlines actor={actor} />}
      {turn === undefined && <Waiting actor={actor} />}
      <section aria-label="Context">
        <h3>Context {turn !== undefined && <small>after turn {turn.turn}</small>}</h3>
        {turn !== undefined && turn.context === undefined ? (
          <Note>
            Not recorded for this turn. Press Record below, and the turns from then on keep their
            context.
          </Note>
        ) : (
          <ShownValue shown={turn === undefined ? actor.context : turn.context} />
        )}
      </section>
      {turn === undefined ? (
        <Commands actor={actor} />
      ) : (
        <div class="deeds">
          <CopyTest address={actor.address} turn={turn.turn} />
        </div>
      )}
    </aside>
  );
}

export function ShownValue({ shown }: { shown: Shown | undefined }) {
  if (shown === undefined) return <Note>{reason('contexts') || 'It has none.'}</Note>;
  return (
    <>
      <Json value={shown.value} />
      {(shown.isCut || shown.redacted.length > 0) && (
        <p class="soft">
          {shown.isCut && `Cut: ${bytes(shown.bytes)} in all. `}
          {shown.redacted.length > 0 && `Redacted: ${shown.redacted.map(plain).join(', ')}.`}
        </p>
      )}
    </>
  );
}

function Deadlines({ actor: { deadlines, status } }: { actor: ActorDetail }) {
  const sorted = [...deadlines].sort((one, other) => one.dueAt - other.dueAt);
  return (
    <section aria-label="Deadlines">
      <h3>Deadlines</h3>
      {sorted.length === 0 ? (
        <p class="calm">
          {status === 'active' ? 'None is armed: only a message moves it on.' : 'None.'}
        </p>
      ) : (
        <ul class="lines">
          {sorted.map(({ id, name, state, dueAt, armedAt, child }) => (
            <li key={`${child ?? ''} ${id}`}>
              <Countdown dueAt={dueAt} armedAt={armedAt} />
              <span class="grow" title={plain(id)}>
                {plain(name)}
                <small class="soft">
                  {child !== undefined && ` of child ${plain(child)}`}
                  {state !== undefined && (
                    <span title={plain(state)}> in {stateEnd(state) || 'the whole'}</span>
                  )}
                </small>
              </span>
              <small class="soft">{timeOfDay(dueAt)}</small>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Waiting({ actor }: { actor: ActorDetail }) {
  const { children, effects, waitingMessages, mailbox, mailboxSize } = actor;
  if (children.length + effects.length + waitingMessages.length + mailboxSize === 0) return null;
  return (
    <section aria-label="Under way">
      <h3>Under way</h3>
      <ul class="lines">
        {children.map(({ id, src, state, actsAlone }) => (
          <li key={id}>
            <span class="grow">
              {plain(id)}{' '}
              {src !== undefined && src !== id && <small class="soft">{plain(src)}</small>}
            </span>
            <small class="soft">
              {state === undefined ? (actsAlone ? 'runs' : 'is there') : plain(state)}
            </small>
          </li>
        ))}
        {effects.map(({ id, name, doing }) => (
          <li key={id}>
            <span class="grow">{plain(name)}</span>
            <small class="soft">{plain(doing)}</small>
          </li>
        ))}
        {waitingMessages.map(({ to, type, count, attempts }) => (
          <li key={`${to} ${type}`}>
            <span class="grow">
              {plain(type)} to <ActorLink address={to} />
            </span>
            <small class={attempts > 0 ? 'late' : 'soft'}>
              {counted(count, 'message')}
              {attempts > 0 && `, tried ${attempts} times`}
            </small>
          </li>
        ))}
        {mailboxSize > 0 && (
          <li>
            <span class="grow">{counted(mailboxSize, 'event')} in its mailbox</span>
            <small class="soft">{mailbox.slice(0, 3).map(plain).join(', ')}</small>
          </li>
        )}
      </ul>
    </section>
  );
}
