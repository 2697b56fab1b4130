/**
 * A vitest file made of a recording: it brings an actor to the same turn in virtual time, by the same events at the
 * same moments.
 *
 * The recorded end is what should not be: the test fails while the machine comes to it, and passes once it is mended.
 */

import { kindOf } from '../../runtime/base/address.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { SPAWN_EVENT } from '../../runtime/base/event-types.ts';
import type { RecordedHeader, RecordedLine } from '../protocol.ts';
import { REDACTED } from '../shown.ts';
import type { SourceFile } from '../source.ts';
import { stateValue } from '../state-paths.ts';
import type { TurnOfLine } from './turn-line.ts';

/** `turn`: that which went wrong; default the last. @throws {RuntimeError} ACTOR_UNKNOWN, OPTION_INVALID */
export function testFileOf(
  lines: ReadonlyArray<RecordedHeader | RecordedLine>,
  address: string,
  turn?: number,
): SourceFile {
  const all = lines.filter(
    (line): line is TurnOfLine => line.type === 'turn' && line.address === address,
  );
  const turns = all.filter((line) => turn === undefined || line.turn <= turn);
  const [spawned] = turns;
  const last = turns.at(-1);
  if (spawned === undefined || last === undefined)
    throw new RuntimeError('ACTOR_UNKNOWN', `Nothing of ${address} is recorded up to there.`, {
      address,
    });
  if (spawned.event.type !== SPAWN_EVENT)
    throw new RuntimeError(
      'OPTION_INVALID',
      `The recording begins with turn ${spawned.turn} of ${address}: a test needs its spawn. Record its kind from the start.`,
    );
  const text = fileText(address, turns, last);
  const name = `${kindOf(address)}-${last.turn}.test.ts`;
  return { name, type: 'text/plain; charset=utf-8', text };
}

function fileText(address: string, turns: readonly TurnOfLine[], last: TurnOfLine): string {
  const kind = kindOf(address);
  const own = address.slice(0, address.lastIndexOf('@'));
  const [spawned, ...rest] = turns as [TurnOfLine, ...TurnOfLine[]];
  const input = spawned.event.input;
  const spawn = input === undefined ? '' : `, { input: ${code(withoutAt(input))} } as never`;
  const isHidden = JSON.stringify(turns).includes(REDACTED);
  let at = spawned.takenAt;
  const steps = rest.flatMap((turn) => {
    const waitMs = turn.takenAt - at;
    at = Math.max(at, turn.takenAt);
    const wait = waitMs > 0 ? [`  await runtime.advance(${waitMs});`] : [];
    return [...wait, ...stepOf(turn, turn === last)];
  });
  return [
    '/**',
    ` * ${own} as it was recorded, up to turn ${last.turn} (${last.event.type}).`,
    ' *',
    ' * It fails while the machine comes to the recorded end, and passes once it does not.',
    ' */',
    '',
    "import { testRuntime } from 'escapement/testing';",
    "import { expect, test } from 'vitest';",
    `// The machine of kind "${kind}": say where yours is.`,
    `import { machine } from './${kind}.ts';`,
    '',
    ...(turns.some(({ isBare }) => isBare)
      ? ['// Of some events the type alone is known: fill in what they had with them.', '']
      : []),
    ...(isHidden
      ? [
          `// Secrets were replaced by "${REDACTED}" when this was recorded: fill in what matters.`,
          '',
        ]
      : []),
    `test(${code(`${own} comes to another end than the recorded one`)}, async () => {`,
    `  const runtime = await testRuntime({ kinds: { ${code(kind)}: machine } });`,
    `  const actor = await runtime.spawn(${code(own)}${spawn});`,
    ...steps,
    '  await runtime.settle();',
    ...assertions(last),
    '  await runtime.stop();',
    '});',
    '',
  ].join('\n');
}

function stepOf({ event, dueAt, turn, error }: TurnOfLine, isLast: boolean): string[] {
  const { type } = event;
  if (dueAt !== undefined || type.startsWith('xstate.after.'))
    return [`  // Turn ${turn}: deadline ${comment(type)} has come.`];
  if (type.startsWith('xstate.'))
    return [
      `  // Turn ${turn}: ${comment(type)} came from inside; provide its actors to the machine above.`,
      '  await runtime.settle();',
    ];
  const { at: _at, replyTo: _replyTo, ...given } = event as Record<string, unknown>;
  const sent = `actor.send(${code(given)} as never)`;
  if (error !== undefined && isLast) return [`  const taken = ${sent};`];
  if (error !== undefined) return [`  await ${sent}.catch(() => {}); // ${comment(error.code)}`];
  return [`  await ${sent};`];
}

function assertions({ state, error, event, dueAt }: TurnOfLine): string[] {
  const isSent = dueAt === undefined && !event.type.startsWith('xstate.');
  if (error !== undefined && isSent)
    return [
      `  // Recorded: ${comment(`${error.code}: ${error.message}`)}`,
      '  await expect(taken).resolves.toBeUndefined();',
    ];
  return [
    `  // Recorded: ${comment(state)}. Say what it should be instead, and drop the "not".`,
    `  expect(actor.getSnapshot().value).not.toEqual(${code(stateValue(state))});`,
  ];
}

/** The runtime adds the time of spawn by itself. */
function withoutAt(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  const { at: _, ...rest } = input as Record<string, unknown>;
  return rest;
}

/** JSON is an expression, but for two characters that end lines in older readers, and `__proto__`. */
function code(value: unknown): string {
  return JSON.stringify(value ?? null)
    .replace(/\u2028/g, '\\u2028')
    .replace(/\u2029/g, '\\u2029')
    .replace(/"__proto__":/g, '["__proto__"]:');
}

/** Text of one line that ends no comment. */
const comment = (text: string): string =>
  text.replace(/\s+/g, ' ').replace(/\*\//g, '* /').slice(0, 200);
