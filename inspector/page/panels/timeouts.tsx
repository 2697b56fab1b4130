/**
 * Timeouts: by kind and reason with their rates and limits, and the deadlines of the fleet that are still to come.
 */

import type { ShadowLine, TimeoutsView } from '../../protocol.ts';
import { useAnswer } from '../core/api.ts';
import { generation } from '../core/live.ts';
import { href, route } from '../core/route.ts';
import { count, counted, duration, plain } from '../core/words.ts';
import {
  ActorLink,
  Ago,
  Countdown,
  Empty,
  KindLink,
  MissingNodes,
  Note,
  State,
} from '../parts/marks.tsx';
import { Plot } from '../parts/plot.tsx';
import { Windows } from '../parts/windows.tsx';

export function TimeoutsPanel() {
  const window = route.value.params.get('window') ?? '1h';
  const { answer, error } = useAnswer<TimeoutsView>(
    'timeouts',
    { window, round: String(generation.value) },
    3_000,
  );
  if (answer === undefined)
    return error === undefined ? (
      <Note>Asking for the timeouts…</Note>
    ) : (
      <Empty title="There is no answer">
        <p>{error}</p>
      </Empty>
    );
  return (
    <div class="panel timeouts">
      <h2 class="hidden">Timeouts</h2>
      <p class="actor-state">
        <Windows shown={window} />
        <span class="soft">
          counted since <Ago at={answer.since} />
        </span>
      </p>
      <MissingNodes missing={answer.missing} />
      <section aria-label="Deadlines that came">
        <h3>Deadlines that came</h3>
        {answer.lines.length === 0 ? (
          <p class="calm">None in this time.</p>
        ) : (
          <ul class="timeout-lines">
            {leading(answer.lines).map(
              ({
                kind,
                reason,
                count: number,
                rate,
                durationP99Ms,
                limitMs,
                recommendation,
                isRhythm = false,
              }) => (
                <li key={`${kind} ${reason}`}>
                  <div class="grow">
                    <KindLink kind={kind} /> <b>{plain(reason)}</b>{' '}
                    <span class="soft">
                      {number === 1 ? 'once' : `${count(number)} times`}
                      {isRhythm && ', and begins again: a rhythm'}
                    </span>
                    {limitMs !== undefined && (
                      <p class="soft">
                        limit {duration(limitMs)}
                        {durationP99Ms !== undefined &&
                          `; 99 % of what ended in time took ${duration(durationP99Ms)} at most, ${Math.round((durationP99Ms / limitMs) * 100)} % of it`}
                      </p>
                    )}
                    {recommendation !== undefined && <p>{plain(recommendation)}</p>}
                  </div>
                  <Plot title="" series={rate} sort={isRhythm ? '' : 'late'} />
                </li>
              ),
            )}
          </ul>
        )}
      </section>
      {answer.shadows !== undefined && <Shadows lines={answer.shadows} />}
      <Pending answer={answer} />
      <section aria-label="Due next">
        <h3>
          Due next{' '}
          <a class="more" href={href('actors', '', { sort: 'deadline' })}>
            all
          </a>
        </h3>
        <ul class="lines">
          {answer.soonest.map(({ address, state, dueAt, deadline }) => (
            <li key={address}>
              {dueAt !== undefined && <Countdown dueAt={dueAt} armedAt={deadline?.armedAt} />}
              <ActorLink address={address} />
              <small class="soft">{deadline === undefined ? '' : plain(deadline.name)}</small>
              <State state={state} />
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

/** Those that lead on before rhythms, the most frequent first. */
function leading(lines: TimeoutsView['lines']): TimeoutsView['lines'] {
  return lines.toSorted(
    (one, other) =>
      Number(one.isRhythm ?? false) - Number(other.isRhythm ?? false) || other.count - one.count,
  );
}

/** What enforcement would have ended. */
function Shadows({ lines }: { lines: readonly ShadowLine[] }) {
  return (
    <section aria-label="Shadow results">
      <h3>In shadow: not enforced</h3>
      {lines.length === 0 ? (
        <p class="calm">
          No deadline came in shadow mode: nothing would have been ended that was not.
        </p>
      ) : (
        <ul class="lines">
          {lines.map(({ kind, reason, count: number, completed, living, last }) => (
            <li key={`${kind} ${reason}`}>
              <KindLink kind={kind} /> <b>{plain(reason)}</b>
              <span class="grow">
                would have ended {counted(number, 'actor')}; {count(completed)} came to a good end
                all the same{living > 0 && <>, {count(living)} still live</>}
              </span>
              <small>
                the last: <ActorLink address={last} tab="why" />
              </small>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Pending({ answer: { pending } }: { answer: TimeoutsView }) {
  const most = Math.max(1, ...pending.map((each) => each.count));
  return (
    <section aria-label="Deadlines to come">
      <h3>Deadlines to come</h3>
      {pending.every((each) => each.count === 0) ? (
        <p class="calm">None is armed.</p>
      ) : (
        <ul class="pending">
          {pending.map(({ withinMs, count: number }) => (
            <li key={withinMs}>
              <span>
                {withinMs <= 0
                  ? 'overdue'
                  : Number.isFinite(withinMs) && withinMs < 1e15
                    ? `in ${duration(withinMs)}`
                    : 'later'}
              </span>
              <span class="meter">
                <i
                  style={{ transform: `scaleX(${number / most})` }}
                  class={withinMs <= 0 ? 'late' : ''}
                />
              </span>
              <span class="number" title={counted(number, 'deadline')}>
                {count(number)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
