/**
 * Letters that nobody could take: why, what they say, and another try.
 */

import { useSignal } from '@preact/signals';
import type { CommandAnswer, UndeliveredPage } from '../../protocol.ts';
import { command, useAnswer } from '../core/api.ts';
import { generation, reason } from '../core/live.ts';
import { moment, plain, timeOfDay } from '../core/words.ts';
import { ActorLink, Deed, Empty, MissingNodes, Note } from '../parts/marks.tsx';
import { ShownValue } from './actor-side.tsx';

export function LettersPanel() {
  const { answer, error, again } = useAnswer<UndeliveredPage>(
    'undelivered',
    { limit: '100', round: String(generation.value) },
    5_000,
  );
  const given = useSignal<CommandAnswer | undefined>(undefined);
  const give = async (
    type: 'retryLetter' | 'dropLetter',
    id: string,
    node: string,
  ): Promise<void> => {
    given.value = await command({ type, id, node });
    again();
  };
  if (answer === undefined) return <Note>{error ?? 'Asking for the letters…'}</Note>;
  return (
    <div class="panel letters">
      <h2>Undelivered messages</h2>
      <MissingNodes missing={answer.missing} />
      {given.value !== undefined && (
        <div class={`answer ${given.value.outcome}`} role="status">
          {plain(given.value.why)}
        </div>
      )}
      {answer.rows.length === 0 ? (
        <Empty title="There are none">
          <p>Every message was taken, or is still on its way.</p>
        </Empty>
      ) : (
        <ul class="letter-list">
          {answer.rows.map(({ id, at, to, from, type, payload, error: failure, node }) => (
            <li key={`${node} ${id}`}>
              <p>
                <time title={moment(at)}>{timeOfDay(at)}</time> <b>{plain(type)}</b> to{' '}
                <ActorLink address={to} />
                {from !== undefined && (
                  <>
                    {' '}
                    from <ActorLink address={from} />
                  </>
                )}
              </p>
              <p class="failed">
                {plain(failure.code)}: {plain(failure.message)}
              </p>
              <details>
                <summary>What it says</summary>
                <ShownValue shown={payload} />
              </details>
              <div class="deeds">
                <Deed onClick={() => void give('retryLetter', id, node)} why={reason('letters')}>
                  Try again
                </Deed>
                <Deed onClick={() => void give('dropLetter', id, node)} why={reason('letters')}>
                  Drop
                </Deed>
              </div>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
