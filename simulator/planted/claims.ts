/** Plants of believed claims: what a peer says of itself, of others, or of numbers that are raised. */

import type { Plant } from './plant.ts';

const FENCES = 'test/delivery/fence-claims.test.ts';
const TOLD = 'test/jobs/bad-input/claims.test.ts';

export const claimPlants: readonly Plant[] = [
  {
    id: 'P140',
    area: 'fence',
    says: 'Anybody is believed who says that a greater fence of a place is known.',
    edits: [
      {
        file: 'runtime/peer-authority.ts',
        find: 'if (place !== known.place || !isHostOf(peer, place))',
        replace: 'if (place !== known.place)',
      },
    ],
    suite: FENCES,
  },
  {
    id: 'P141',
    area: 'fence',
    says: 'A manager may claim any fence of its place.',
    edits: [
      {
        file: 'runtime/peer-authority.ts',
        find: 'if (isFence(fence) && fence <= highest) return;',
        replace: 'if (isFence(fence) || fence > highest) return;',
      },
    ],
    suite: FENCES,
  },
  {
    id: 'P145',
    area: 'gate',
    says: 'A gate may cancel the jobs of another one.',
    edits: [
      {
        file: 'programs/jobs/manager/admission.ts',
        find: "if (job.gateId !== placeOf(message.from ?? '')) return 'it is not a job of that gate';",
        replace: '',
      },
    ],
    suite: TOLD,
  },
  {
    id: 'P146',
    area: 'fence',
    says: 'A term, a fence or an epoch that a peer tells of is gone above however great it is.',
    edits: [
      {
        file: 'programs/jobs/claims.ts',
        find: 'if (told <= runtime.fence + config.fenceStepMax || told <= known()) return undefined;',
        replace:
          'if (told <= runtime.fence + config.fenceStepMax || known() >= 0) return undefined;',
      },
    ],
    suite: TOLD,
  },
];
