/** The paths of a reminder. */

import { reminderMachine } from '../../../machines/reminder.ts';
import type { PathPlan } from '../../paths/plan.ts';
import { SPAWNED_AT } from '../../paths/situation.ts';

const input = { until: SPAWNED_AT + 60_000, to: 'note/n1@far', event: { type: 'note.due' } };

export const reminderPlan: PathPlan = {
  machine: reminderMachine,
  inputs: { soon: input, 'long ago': { ...input, until: 0 } },
  events: (_, at: number) => [
    { type: 'reminder.move', until: at + 1_000 } as never,
    { type: 'reminder.move', until: at } as never,
    { type: 'reminder.cancel' },
  ],
  key: () => null,
};
