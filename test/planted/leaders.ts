/** Planted bugs: how a new leader opens its datacenter, and how others come to know it. */

import type { Plant } from './plant.ts';

export const leaderPlants: readonly Plant[] = [
  {
    id: 'P245',
    area: 'runtime',
    says: 'A datacenter whose pool has more waiting at the start than its mailbox holds is not opened.',
    edits: [
      {
        file: 'programs/jobs/room.ts',
        find: "thrown.code === 'MAILBOX_FULL'",
        replace: "thrown.code === 'ACTOR_ENDED'",
      },
    ],
    suite: 'test/jobs/restart/full-mailbox.test.ts',
  },
  {
    id: 'P246',
    area: 'runtime',
    says: 'Anybody who has only hints for a place never asks who hosts it, where the greeting of its host got lost.',
    edits: [
      {
        file: 'runtime/delivery/hints.ts',
        find: 'this.#services.inquire(placeOf(to));',
        replace: '',
      },
    ],
    plan: '560070-TO-13.json',
  },
];
