/**
 * Form that moves a deadline of an actor or lets it come now, in test environments. Each needs a second press, since
 * nothing takes it back.
 */

import { useSignal } from '@preact/signals';
import type { ActorDetail, Command } from '../../protocol.ts';
import { now } from '../core/clock.ts';
import { can, reason } from '../core/live.ts';
import { plain } from '../core/words.ts';
import { Deed } from '../parts/marks.tsx';

export function MoveDeadline({
  actor: { address, deadlines },
  give,
}: {
  actor: ActorDetail;
  give: (asked: Command) => Promise<void>;
}) {
  const sorted = [...deadlines].sort((one, other) => one.dueAt - other.dueAt);
  const chosen = useSignal('');
  const seconds = useSignal('60');
  const sure = useSignal('');
  const deadline = sorted.find(({ id }) => id === chosen.value) ?? sorted[0];
  if (deadline === undefined) return null;
  const { id, name } = deadline;
  const inMs = Number(seconds.value) * 1_000;
  const twice = (what: string, asked: () => Command) => (): void => {
    if (sure.value === what) {
      sure.value = '';
      void give(asked());
    } else sure.value = what;
  };
  if (!can('fireNow'))
    return (
      <div class="deeds">
        <Deed onClick={() => {}} why={reason('fireNow')}>
          Let “{plain(name)}” come now
        </Deed>
      </div>
    );
  return (
    <fieldset class="move-deadline">
      <legend class="soft">Deadline</legend>
      {sorted.length > 1 && (
        <select
          aria-label="Deadline"
          value={id}
          onChange={(event) => {
            chosen.value = event.currentTarget.value;
            sure.value = '';
          }}
        >
          {sorted.map((each) => (
            <option value={each.id} key={`${each.child ?? ''} ${each.id}`}>
              {plain(each.name)}
            </option>
          ))}
        </select>
      )}
      <div class="deeds">
        <Deed
          onClick={twice('fire', () => ({ type: 'fireNow', address, deadline: id }))}
          title={plain(id)}
        >
          {sure.value === 'fire' ? 'Press again to let it' : `Let “${plain(name)}”`} come now
        </Deed>
        <Deed
          onClick={twice('move', () => ({
            type: 'changeDeadline',
            address,
            deadline: id,
            dueAt: Math.round(now.value + inMs),
          }))}
          why={inMs > 0 ? undefined : 'Say in how many seconds.'}
        >
          {sure.value === 'move' ? 'Press again: due in' : 'Due in'} {plain(seconds.value)} s
        </Deed>
        <input
          type="number"
          min="1"
          aria-label="Seconds from now"
          value={seconds.value}
          onInput={(event) => {
            seconds.value = event.currentTarget.value;
            sure.value = '';
          }}
        />
      </div>
    </fieldset>
  );
}
