/**
 * A test that threw as lines of a recording: what it threw, the turns until then, and its actors.
 */

import { messageOf } from '../../runtime/base/errors.ts';
import type { CauseLine, RecordedHeader, RecordedLine } from '../protocol.ts';

/** Turns that are told of, the last ones. */
const TURNS_MAX = 40;
/** Lanes of actors, those of the last turns. */
const ACTORS_MAX = 20;
/** Colours of a terminal, which test runners put into messages. */
const COLOURS = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, 'g');

export function linesOfTest(
  lines: ReadonlyArray<RecordedHeader | RecordedLine>,
  thrown: unknown,
  { from, to }: { readonly from: number; readonly to: number },
): Array<RecordedHeader | RecordedLine> {
  const turns = lines.filter((line) => line.type === 'turn');
  const addresses = [...new Set(turns.toReversed().map(({ address }) => address))];
  const what = messageOf(thrown).replace(COLOURS, '');
  const failure = {
    invariant: 'The test failed',
    says: 'The test failed',
    what,
    why: turns.slice(-TURNS_MAX).map(causeOf),
    addresses: addresses.slice(0, ACTORS_MAX).sort(),
    replay: '',
  };
  return [
    ...lines.map((line) =>
      line.type === 'recording' ? { ...line, title: what, zero: from } : line,
    ),
    { type: 'failure', at: to, node: '', failure },
  ];
}

function causeOf({
  at,
  node,
  address,
  turn,
  event,
  from,
  state,
  error,
}: Extract<RecordedLine, { type: 'turn' }>): CauseLine {
  const sender = from?.includes('@') === true && from.includes('/') ? ` from ${from}` : '';
  const failed = error === undefined ? '' : ` and failed: ${error.code} ${error.message}`;
  const what = `${address} took ${event.type}${sender}${failed} → ${state}`;
  return { at, node, what, address, turn };
}
