/**
 * Attempts at work: who needs a human, how much of the clock is left, what was heard last, and checkpoints.
 */

import type { Command, RunLine, WorkerLine } from '../../protocol.ts';
import { command } from '../core/api.ts';
import { now } from '../core/clock.ts';
import { reason } from '../core/live.ts';
import { actorHref } from '../core/route.ts';
import { ago, count, duration, moment, plain, wordsOf } from '../core/words.ts';
import { Countdown, Deed } from '../parts/marks.tsx';
import type { Said } from './questions.tsx';

export function Workers({
  run,
  workers,
  at,
  onSaid,
}: {
  run: RunLine;
  workers: readonly WorkerLine[];
  at: number;
  onSaid: (said: Said) => void;
}) {
  return (
    <section aria-label="At work">
      <h3>At work</h3>
      {workers.length === 0 ? (
        <p class="calm">Nobody{run.questions.length > 0 && ': what is left waits for you'}.</p>
      ) : (
        <ul class="workers">
          {workers.map((worker) => (
            <Worker key={worker.id} run={run} worker={worker} at={at} onSaid={onSaid} />
          ))}
        </ul>
      )}
    </section>
  );
}

const EXTRA_MS = 60_000;

function Worker({
  run,
  worker,
  at,
  onSaid,
}: {
  run: RunLine;
  worker: WorkerLine;
  at: number;
  onSaid: (said: Said) => void;
}) {
  const { id, address, of, name, state, isWaiting, heardAt, lastAction, clock } = worker;
  const extend = async (): Promise<void> => {
    const asked: Command = {
      type: 'extend',
      address,
      byMs: EXTRA_MS,
      reason: 'asked in the inspector',
    };
    onSaid({ ...(await command(asked)), question: id });
  };
  return (
    <li class={`worker ${isWaiting ? 'waits' : ''}`}>
      <span class="worker-name">
        <a href={actorHref(address)}>{plain(id)}</a>{' '}
        <span class="soft">
          {of !== id && !id.startsWith(`${of}#`) && `${plain(of)}, `}
          {plain(name)}
        </span>
      </span>
      <b class={isWaiting ? 'late' : ''}>{isWaiting ? 'needs you' : wordsOf(state)}</b>
      <Clock clock={clock} at={at} />
      <span class="worker-said">
        {heardAt !== undefined && (
          <span title={`last heard ${moment(heardAt)}`}>
            {now.value - heardAt < 1_000
              ? 'heard just now'
              : `quiet for ${duration(now.value - heardAt)}`}
          </span>
        )}
        {lastAction !== undefined && <span class="soft">{plain(lastAction).slice(0, 200)}</span>}
      </span>
      <Checkpoint worker={worker} />
      {run.system === 'mapreduce' && clock?.limitMs !== undefined && (
        <Deed
          onClick={() => void extend()}
          why={reason('extend')}
          title="More time for the attempt"
        >
          1 min more
        </Deed>
      )}
    </li>
  );
}

/** Time that is left; it stands still while the attempt waits for somebody. */
function Clock({ clock, at }: { clock: WorkerLine['clock']; at: number }) {
  if (clock === undefined) return <span class="soft">not begun</span>;
  const { usedMs, limitMs, isRunning } = clock;
  const used = usedMs + (isRunning ? Math.max(0, now.value - at) : 0);
  if (limitMs === undefined) return <span>{duration(used)}, no limit</span>;
  const left = limitMs - used;
  const share = Math.max(0, Math.min(1, used / Math.max(1, limitMs)));
  const words = left < 0 ? `late ${duration(-left)}` : `${duration(left)} left`;
  return (
    <span
      class={`countdown ${left < 0 ? 'late' : ''}`}
      title={`${duration(used)} of ${duration(limitMs)} used`}
    >
      {words}
      {!isRunning && <small class="soft"> clock stands</small>}
      <span class="share" aria-hidden="true">
        <span style={{ transform: `scaleX(${share})` }} />
      </span>
    </span>
  );
}

function Checkpoint({ worker: { checkpoint, checkpointDueAt, misses } }: { worker: WorkerLine }) {
  const isMissing = misses !== undefined && misses.count > 0;
  if (checkpoint === undefined && checkpointDueAt === undefined && !isMissing) return null;
  return (
    <span class="worker-checkpoint">
      {checkpoint !== undefined && (
        <span title={checkpoint.remaining.map(plain).join(', ')}>
          “{plain(checkpoint.status).slice(0, 100)}”
          {checkpoint.percent !== undefined && ` ${Math.round(checkpoint.percent)} %`}{' '}
          <span class="soft">{ago(checkpoint.at, now.value)}</span>
        </span>
      )}
      {checkpointDueAt !== undefined && (
        <span class="soft">
          asked for a checkpoint: <Countdown dueAt={checkpointDueAt} />
        </span>
      )}
      {isMissing && (
        <span class="late">
          missed {count(misses.count)} of {count(misses.stalledAt)}
        </span>
      )}
    </span>
  );
}
