/** Fingerprint of a machine: its states and transitions by name, in which two machines of one id may differ. */

import { type Draft, statesIn, transitionLists } from '../../testing/model/definition.ts';

export function fingerprintOf({ root }: Draft): string {
  const names = [...statesIn(root)].flatMap((state) => [
    state.id,
    ...[...transitionLists(state)].map(({ cause, list }) => `${cause} ${list.length}`),
  ]);
  return names.join('\n');
}
