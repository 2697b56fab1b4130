/**
 * Runs of agents and of map-reduce: what needs a human first, then who is at work and how much of its time is left,
 * requests to experts, and tasks or items.
 */

import { useSignal } from '@preact/signals';
import type { PartLine, RunLine, RunsView } from '../../protocol.ts';
import { useAnswer } from '../core/api.ts';
import { generation, hello, isPaused } from '../core/live.ts';
import { actorHref } from '../core/route.ts';
import { count, counted, plain, wordsOf } from '../core/words.ts';
import { Ago, Countdown, Empty, MissingNodes, Note } from '../parts/marks.tsx';
import { Questions, type Said } from './questions.tsx';
import { Workers } from './workers.tsx';

export function RunsPanel() {
  const { answer, error, again } = useAnswer<RunsView>(
    'runs',
    { round: String(generation.value) },
    isPaused.value ? undefined : 1_000,
  );
  const said = useSignal<Said | undefined>(undefined);
  if (answer === undefined) return <Note>{error ?? 'Asking for the runs…'}</Note>;
  // At rest none goes on, and how far the last ones came is what is looked for.
  const isWhole = ({ isLive }: RunLine): boolean => isLive || hello.value?.range !== undefined;
  const live = answer.runs.filter(isWhole);
  const ended = answer.runs.filter((run) => !isWhole(run));
  return (
    <div class="panel runs-panel">
      <h2 class="hidden">Runs</h2>
      <MissingNodes missing={answer.missing} />
      {said.value !== undefined && (
        <div class={`answer ${said.value.outcome}`} role="status">
          <b>{plain(said.value.question)}</b> {plain(said.value.why)}
        </div>
      )}
      {answer.runs.length === 0 && (
        <Empty title="There are no runs yet">
          <p>
            <code>escapement agents run</code> and <code>escapement mapreduce run</code> begin one.
          </p>
        </Empty>
      )}
      {live.map((run) => (
        <Run
          key={`${run.system} ${run.runId}`}
          run={run}
          at={answer.at}
          onSaid={(given) => {
            said.value = given;
            again();
          }}
        />
      ))}
      {ended.length > 0 && (
        <section aria-label="Ended runs">
          <h3>Ended</h3>
          <ul class="lines">
            {ended.map((run) => (
              <li key={`${run.system} ${run.runId}`}>
                <a href={actorHref(run.address)}>{plain(run.runId)}</a>
                <b class={run.status === 'failed' ? 'failed' : ''}>{plain(run.status)}</b>
                {run.why !== undefined && <span>{plain(run.why)}</span>}
                <span class="soft">{countsText(run)}</span>
                {run.endedAt !== undefined && (
                  <span class="soft">
                    <Ago at={run.endedAt} />
                  </span>
                )}
              </li>
            ))}
          </ul>
          {answer.more > 0 && <p class="soft">and {counted(answer.more, 'older run')}</p>}
        </section>
      )}
    </div>
  );
}

const countsText = ({ counts }: RunLine): string =>
  counts.map(({ state, count: number }) => `${count(number)} ${wordsOf(state)}`).join(', ');

function Run({ run, at, onSaid }: { run: RunLine; at: number; onSaid: (said: Said) => void }) {
  const { runId, status, why, system, slots, questions, workers, delegations, parts } = run;
  const usage = Object.entries(run.usage);
  return (
    <section class="run" aria-label={`Run ${plain(runId)}`}>
      <header class="run-head">
        <h2>
          <a href={actorHref(run.address)}>{plain(runId)}</a>
        </h2>
        <b class={status === 'running' ? '' : 'late'}>{plain(status)}</b>
        {why !== undefined && <span>{plain(why)}</span>}
        <span class="soft">
          {system === 'agents' ? 'agents' : 'map-reduce'}, begun <Ago at={run.startedAt} />
        </span>
        <span>
          {count(slots.used)} of {counted(slots.all, 'slot')} in use
        </span>
        {usage.length > 0 && (
          <span class="soft">
            {usage.map(([name, amount]) => `${plain(name)} ${count(amount)}`).join(', ')}
          </span>
        )}
      </header>
      <p class="soft">{countsText(run)}</p>
      <Questions questions={questions} onSaid={onSaid} />
      <Workers run={run} workers={workers} at={at} onSaid={onSaid} />
      {delegations.length > 0 && (
        <section aria-label="Asked of experts">
          <h3>Asked of experts</h3>
          <ul class="lines">
            {delegations.map(({ id, address, expert, task, state, prompt, dueAt }) => (
              <li key={id}>
                {dueAt === undefined ? (
                  <span class="soft">waits</span>
                ) : (
                  <Countdown dueAt={dueAt} />
                )}
                <a href={actorHref(address)}>{plain(expert)}</a>
                <span class="soft">
                  for {plain(task)}, {wordsOf(state)}
                </span>
                <span class="grow">{plain(prompt).slice(0, 200)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Parts run={run} parts={parts} />
    </section>
  );
}

const LOUD: Readonly<Record<string, string>> = {
  failed: 'failed',
  dlq: 'failed',
  unreachable: 'failed',
  awaitingHuman: 'late',
  retryWait: 'late',
};

function Parts({
  run: { system, partsMore },
  parts,
}: {
  run: RunLine;
  parts: readonly PartLine[];
}) {
  const title = system === 'agents' ? 'Tasks' : 'Items that are not done';
  if (parts.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul class="lines parts">
        {parts.map(({ id, address, state, attempts, detail, dueAt }) => (
          <li key={id}>
            <b class={LOUD[state] ?? ''}>{wordsOf(state)}</b>
            {address === undefined ? (
              <span>{plain(id)}</span>
            ) : (
              <a href={actorHref(address)}>{plain(id)}</a>
            )}
            {attempts > 0 && <span class="soft">{counted(attempts, 'attempt')}</span>}
            {dueAt !== undefined && (
              <span class="soft">
                again in <Countdown dueAt={dueAt} />
              </span>
            )}
            {detail !== '' && <span class="grow soft">{plain(detail).slice(0, 300)}</span>}
          </li>
        ))}
      </ul>
      {partsMore > 0 && <p class="soft">and {count(partsMore)} more</p>}
    </section>
  );
}
