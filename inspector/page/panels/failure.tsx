/**
 * Failure of a simulated run: which invariant broke and how, what led there, the run as lanes beside the nearest one
 * that holds, and all that happened in words.
 */

import { type Signal, useSignal } from '@preact/signals';
import type { CauseLine, FailureAnswer } from '../../protocol.ts';
import { useAnswer } from '../core/api.ts';
import { generation } from '../core/live.ts';
import { actorHref } from '../core/route.ts';
import { count, counted, moment, plain, timeOfDay } from '../core/words.ts';
import { Empty, Note } from '../parts/marks.tsx';
import { TimelinePanel } from './timeline.tsx';
import type { Range } from './timeline-range.ts';
import { ToldRows } from './told.tsx';

export function FailurePanel() {
  const { answer, error } = useAnswer<FailureAnswer>('failure', {
    round: String(generation.value),
  });
  if (answer === undefined)
    return error === undefined ? (
      <Note>Reading the failure…</Note>
    ) : (
      <Empty title="Nothing broke here">
        <p>{error}</p>
      </Empty>
    );
  return <FailureView answer={answer} />;
}

type Shown = 'failing' | 'other' | 'both';

function FailureView({ answer: { failure, other, told, leftOut } }: { answer: FailureAnswer }) {
  const shown = useSignal<Shown>('failing');
  const range = useSignal<Range | undefined>(undefined);
  const { invariant, says, what, at, node, why, addresses, replay } = failure;
  return (
    <div class="panel failure">
      <p class="verdict failed">{plain(what)}</p>
      <p>
        <b>{plain(invariant)}</b>
        {says === invariant ? '. ' : <> says: {plain(says)} </>}
        <span class="soft">
          It broke at <time title={moment(at)}>{timeOfDay(at)}</time>
          {node !== '' && <> on {plain(node)}</>}.
        </span>
      </p>
      <section aria-label="What led there">
        <h3>What led there</h3>
        {why.length === 0 ? (
          <p class="calm">Nothing that the run tells of.</p>
        ) : (
          <ol class="chain">
            {why.map((line, index) => (
              <Cause line={line} key={index} />
            ))}
          </ol>
        )}
      </section>
      <section aria-label="The run">
        <h3>The run</h3>
        {other !== undefined && <Choice shown={shown} />}
        {shown.value !== 'other' && (
          <TimelinePanel addresses={addresses} mark={{ at, label: invariant }} range={range} />
        )}
        {other !== undefined && (
          <>
            <p>
              The same <b>{plain(other.change)}</b> holds.
              {other.parts.length > 0 && ' The two runs part here:'}
            </p>
            <ul class="parts">
              {other.parts.map((line) => (
                <li key={line}>{plain(line)}</li>
              ))}
            </ul>
            {shown.value !== 'failing' && (
              <TimelinePanel
                addresses={addresses}
                run="other"
                mark={
                  other.partsAt === undefined ? undefined : { at: other.partsAt, label: 'parts' }
                }
                range={range}
              />
            )}
          </>
        )}
      </section>
      {told > 0 && (
        <section aria-label="All that happened">
          <h3>All that happened</h3>
          {leftOut > 0 && (
            <Note>
              {counted(leftOut, 'record')} far from the failure {leftOut === 1 ? 'is' : 'are'} left
              out; history.jsonl and a replay have more.
            </Note>
          )}
          <ToldRows at={at} total={told} {...(shown.value === 'other' && { run: 'other' })} />
        </section>
      )}
      {replay !== '' && (
        <section aria-label="Play it again">
          <h3>Play it again</h3>
          <pre class="replay">{plain(replay)}</pre>
        </section>
      )}
    </div>
  );
}

const CHOICES: ReadonlyArray<readonly [Shown, string]> = [
  ['failing', 'Failing'],
  ['other', 'Nearest that holds'],
  ['both', 'Both'],
];

function Choice({ shown }: { shown: Signal<Shown> }) {
  return (
    <div class="choice" role="group" aria-label="Run that is shown">
      {CHOICES.map(([name, label]) => (
        <button
          type="button"
          key={name}
          aria-pressed={shown.value === name}
          onClick={() => {
            shown.value = name;
          }}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

function Cause({ line: { at, node, what, isInner, address, turn } }: { line: CauseLine }) {
  return (
    <li class={isInner === true ? 'inner' : ''}>
      <time title={moment(at)}>{timeOfDay(at)}</time>
      <div>
        <span>{plain(what)}</span>
        <small>
          <span class="soft">{plain(node)}</span>
          {address !== undefined && turn !== undefined && (
            <a href={`${actorHref(address, 'turns')}&turn=${turn}`}>turn {count(turn)}</a>
          )}
        </small>
      </div>
    </li>
  );
}
