/**
 * Journals of a run: a data directory, a recording or a simulated plan, as turns of the actors of one kind.
 *
 * A directory has histories: types of events and states. The others have events and contexts whole, where nothing was
 * replaced as a secret.
 */

import { statSync } from 'node:fs';
import type { RecordedLine } from '../../inspector/protocol.ts';
import { patched } from '../../inspector/recording/patch.ts';
import { REDACTED } from '../../inspector/shown.ts';
import { stateValue } from '../../inspector/state-paths.ts';
import { parseHistoryRow } from '../../runtime/actor.ts';
import { kindOf } from '../../runtime/base/address.ts';
import type { JournalTurn } from '../../testing/journal/journal.ts';
import { byActor } from '../../testing/journal/test-journal.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { openLmdbData } from '../loaders/lmdb-data.ts';
import { openRested } from '../loaders/rested.ts';
import type { Output } from '../render/output.ts';

export interface Journal {
  readonly kind: string;
  /** Turns of each actor, the oldest first. */
  readonly actors: ReadonlyArray<readonly JournalTurn[]>;
}

type TurnOfRecording = Extract<RecordedLine, { type: 'turn' }>;

/**
 * `kinds`: the first of them that the journal has is read.
 *
 * @throws {CommandFailure} where there is none, or it is no journal
 */
export async function readJournal(
  path: string,
  kinds: readonly string[],
  output: Output,
): Promise<Journal> {
  const found = statSync(path).isDirectory()
    ? await storedActors(path, kinds)
    : recordedActors(path, (await openRested(path, openLmdbData, output)).lines);
  const kind = kinds.find((one) => found.has(one));
  if (kind !== undefined) return { kind, actors: found.get(kind) ?? [] };
  const has = found.size === 0 ? 'no turns at all' : `turns of ${[...found.keys()].join(', ')}`;
  throw new CommandFailure(
    EXIT.badData,
    `${path}: It has no turns of ${kinds.join(' or ')}; it has ${has}. Say which with --kind <kind>.`,
  );
}

type Actors = Map<string, Array<readonly JournalTurn[]>>;

function add(actors: Actors, kind: string, turns: readonly JournalTurn[]): void {
  if (turns.length === 0) return;
  const known = actors.get(kind);
  if (known === undefined) actors.set(kind, [turns]);
  else known.push(turns);
}

/** Of other kinds the name alone is read. */
async function storedActors(directory: string, kinds: readonly string[]): Promise<Actors> {
  const data = await openLmdbData(directory, 'look');
  try {
    const actors: Actors = new Map();
    for (const { address, entry } of data.actors()) {
      if (!kinds.includes(entry.kind)) {
        actors.set(entry.kind, []);
        continue;
      }
      const rows = data.history(address).map(parseHistoryRow);
      const turns = rows.map(
        ({ turn, at, event, dueAt, state, error }): JournalTurn => ({
          ...{ address, turn, at, event: { type: event } },
          ...(dueAt !== undefined && { dueAt }),
          ...(state !== undefined && { state: stateValue(state) }),
          ...(error !== undefined && { hasFailed: true }),
        }),
      );
      add(actors, entry.kind, turns);
    }
    return actors;
  } finally {
    await data.close();
  }
}

/** Deadlines are told after the turn that they follow. */
function recordedActors(path: string, lines: Iterable<{ readonly type: string }>): Actors {
  const contexts = new Map<string, unknown>();
  const turns: Array<{ -readonly [key in keyof JournalTurn]: JournalTurn[key] }> = [];
  const last = new Map<string, (typeof turns)[number]>();
  let number = 0;
  for (const line of lines as Iterable<RecordedLine>) {
    number += 1;
    if (line.type === 'timers') {
      const turn = last.get(line.address);
      if (turn !== undefined && Array.isArray(line.timers)) turn.deadlines = line.timers;
    }
    if (line.type !== 'turn') continue;
    if (!isTurn(line))
      throw new CommandFailure(
        EXIT.badData,
        `${path}: Line ${number} is no turn as recordings have them.`,
      );
    const turn = turnOf(line, contexts);
    turns.push(turn);
    last.set(line.address, turn);
  }
  const actors: Actors = new Map();
  for (const [address, own] of byActor(turns)) add(actors, kindOf(address), own);
  return actors;
}

function isTurn({ address, turn, takenAt, event, state }: TurnOfRecording): boolean {
  return (
    typeof address === 'string' &&
    typeof turn === 'number' &&
    typeof takenAt === 'number' &&
    typeof event?.type === 'string' &&
    typeof state === 'string'
  );
}

function turnOf(line: TurnOfRecording, contexts: Map<string, unknown>): JournalTurn {
  const { address, turn, takenAt: at, event, dueAt, state, patch, contextBytes, error } = line;
  if (line.context !== undefined) contexts.set(address, line.context);
  else if (patch !== undefined) contexts.set(address, patched(contexts.get(address), patch));
  else if (contextBytes !== undefined) contexts.delete(address);
  const context = contexts.get(address);
  return {
    ...{ address, turn, at, event, isWhole: !hidesSomething(event), state: stateValue(state) },
    ...(context !== undefined && !hidesSomething(context) && { context }),
    ...(dueAt !== undefined && { dueAt }),
    ...(error !== undefined && { hasFailed: true }),
  };
}

/** True where a secret was replaced. */
const hidesSomething = (value: unknown): boolean => JSON.stringify(value).includes(REDACTED);
