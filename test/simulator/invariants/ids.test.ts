/** Ids of invariants: reports, plans and plants name an invariant by nothing else. */

import { expect, test } from 'vitest';
import { jobsInvariants } from '../../../simulator/jobs/invariants/index.ts';

test('each invariant has an id of its own', () => {
  const ids = jobsInvariants.map(({ id }) => id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});
