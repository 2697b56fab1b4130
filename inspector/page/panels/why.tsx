/**
 * Reasons why an actor ended, or what ends it next: the verdict, the deadline's arithmetic, who was silent, the chain of
 * messages, and what to change.
 */

import type { ActorExit, Why, WhyAnswer } from '../../protocol.ts';
import { useAnswer } from '../core/api.ts';
import { generation } from '../core/live.ts';
import { actorHref } from '../core/route.ts';
import { duration, moment, plain, stateEnd, timeOfDay, withMoments } from '../core/words.ts';
import { ActorLink, Countdown, Empty, Note } from '../parts/marks.tsx';

export function WhyTab({
  address,
  turns,
  status,
}: {
  address: string;
  turns: number;
  status: string;
}) {
  const round = `${generation.value} ${turns} ${status}`;
  const { answer, error } = useAnswer<WhyAnswer>('why', { address, round });
  if (answer === undefined)
    return error === undefined ? (
      <Note>Working it out…</Note>
    ) : (
      <Empty title="There is no answer">
        <p>{error}</p>
      </Empty>
    );
  return <WhyView why={answer.why} near={answer.why.endedAt ?? answer.at} />;
}

function WhyView({ why, near }: { why: Why; near: number }) {
  const { verdict, reason, endedAt, silent, chain, moreTime, advice, exits, compared, gaps } = why;
  return (
    <div class="why-view">
      <p class={`verdict ${why.cause}`}>{withMoments(verdict, near)}</p>
      <p class="soft">
        {reason !== undefined && <>Its own word for it: {plain(reason)}. </>}
        {endedAt !== undefined && (
          <time title={moment(endedAt)}>It ended at {timeOfDay(endedAt)}.</time>
        )}
      </p>
      {exits.length > 0 && <Exits exits={exits} />}
      <Budget why={why} />
      {compared.length > 0 && (
        <section aria-label="Compared with others">
          <h3>Compared with others of its kind</h3>
          <ul class="lines">
            {compared.map(({ state, ms, usualMs, text }) => (
              <li key={state} class={ms > usualMs ? 'late' : ''}>
                {plain(text)}
              </li>
            ))}
          </ul>
        </section>
      )}
      {silent.length > 0 && (
        <section aria-label="Silent">
          <h3>Silent</h3>
          <ul class="lines">
            {silent.map(({ who, since, text }) => (
              <li key={who}>
                <time class="soft" title={moment(since)}>
                  since {timeOfDay(since)}
                </time>
                <span class="grow">{withMoments(text, since ?? near)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {chain.length > 0 && (
        <section aria-label="How it came about">
          <h3>How it came about</h3>
          <ol class="chain">
            {chain.map(({ at, address, turn, text }, index) => (
              <li key={index}>
                <time title={moment(at)}>{timeOfDay(at)}</time>
                <div>
                  <span>{withMoments(text, at)}</span>
                  <small>
                    <ActorLink address={address} />
                    {turn !== undefined && (
                      <a href={`${actorHref(address, 'turns')}&turn=${turn}`}>turn {turn}</a>
                    )}
                  </small>
                </div>
              </li>
            ))}
          </ol>
        </section>
      )}
      {(moreTime !== undefined || advice.length > 0) && (
        <section aria-label="What to change">
          <h3>What to change</h3>
          {moreTime !== undefined && <p>{withMoments(moreTime, near)}</p>}
          <ul class="advice">
            {advice.map((line) => (
              <li key={line}>{withMoments(line, near)}</li>
            ))}
          </ul>
        </section>
      )}
      {gaps.length > 0 && (
        <Note>Not known: {gaps.map((gap) => withMoments(gap, near)).join(' ')}</Note>
      )}
    </div>
  );
}

const BUDGET_WORDS = {
  base: 'given at the start',
  granted: 'granted',
  denied: 'denied',
  raised: 'raised',
  paused: 'paused',
  grace: 'grace',
} as const;

/** The arithmetic of the deadline: a bar of its parts, and a line for each. */
function Budget({ why: { budget, budgetMs, usedMs } }: { why: Why }) {
  if (budget.length === 0) return null;
  const total = Math.max(budgetMs ?? 0, usedMs ?? 0, 1);
  return (
    <section aria-label="Time budget">
      <h3>Time budget</h3>
      <div class="budget" aria-hidden="true">
        {budget
          .filter(({ ms }) => ms > 0)
          .map(({ sort, ms, at }) => (
            <span
              class={sort}
              style={{ flexGrow: ms / total }}
              key={`${sort} ${at}`}
              title={duration(ms)}
            />
          ))}
        {usedMs !== undefined && (
          <i
            style={{ left: `${Math.min(100, (usedMs / total) * 100)}%` }}
            title={`used ${duration(usedMs)}`}
          />
        )}
      </div>
      <table class="sums">
        <tbody>
          {budget.map(({ at, sort, ms, who, text, why }, index) => (
            <tr key={index} class={sort === 'denied' ? 'late' : ''}>
              <td>
                <time title={moment(at)}>{timeOfDay(at)}</time>
              </td>
              <td class="number">{sort === 'denied' ? 'no' : `+ ${duration(ms)}`}</td>
              <td>
                {withMoments(text, at)}
                <small class="soft">
                  {' '}
                  {BUDGET_WORDS[sort]}
                  {who !== undefined && ` by ${plain(who)}`}
                  {why !== undefined && `: ${plain(why)}`}
                </small>
              </td>
            </tr>
          ))}
          {budgetMs !== undefined && (
            <tr class="sum">
              <td />
              <td class="number">= {duration(budgetMs)}</td>
              <td>
                {usedMs === undefined ? 'in all' : `in all, of which ${duration(usedMs)} were used`}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}

function Exits({ exits }: { exits: readonly ActorExit[] }) {
  const soonest = (dueAt = Number.MAX_SAFE_INTEGER): number => dueAt;
  const sorted = [...exits].sort((one, other) => soonest(one.dueAt) - soonest(other.dueAt));
  return (
    <section aria-label="What ends this next">
      <h3>What ends this next</h3>
      <table class="exits">
        <thead>
          <tr>
            <th>When</th>
            <th>What</th>
            <th>Leaves</th>
            <th>For</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map(({ state, to, cause, condition, dueAt, of, timer }, index) => (
            <tr key={index}>
              <td>
                {dueAt !== undefined ? (
                  <Countdown dueAt={dueAt} />
                ) : (
                  <span class="soft">{timer === undefined ? 'on' : 'not armed'}</span>
                )}
              </td>
              <td>
                {plain(cause)} <span class="soft">{plain(condition)}</span>
              </td>
              <td>
                {of !== undefined && <small class="soft">{plain(of)}: </small>}
                <span title={plain(state)}>{stateEnd(state) || 'all of it'}</span>
              </td>
              <td>
                {to === state ? (
                  <span class="soft">itself, again</span>
                ) : (
                  <span title={plain(to)}>{stateEnd(to) || 'all of it'}</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
