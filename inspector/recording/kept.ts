/**
 * Recordings that lie in a directory of data, and the directory together with them: turns that a history knows by the
 * type of their event alone have their events and contexts where they were recorded.
 */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedHeader, RecordedLine } from '../protocol.ts';
import { linesOfSegments } from './segments.ts';

const FOLDER = 'recordings';

type Lines = Array<RecordedHeader | RecordedLine>;

/** Folder of what a node records, in a directory of data; any name of a node is a name of a folder. */
export function recordingFolder(directory: string, node: string): string {
  return join(directory, FOLDER, `node-${encodeURIComponent(node).replaceAll('*', '%2A')}`);
}

/** What the nodes of a directory recorded, one recording for each; also of the folder of one node. */
export function keptIn(directory: string): Lines[] {
  const own = linesOfSegments(directory);
  const folder = join(directory, FOLDER);
  const nodes = existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    : [];
  const kept = nodes.map(({ name }) => linesOfSegments(join(folder, name)));
  return [own, ...kept].filter(({ length }) => length > 0);
}

/** Lines of what is stored, if anything is, with those of what was recorded: each turn once. */
export function merged(stored: Lines, kept: readonly Lines[]): Lines {
  // What is undelivered still, the store says: of the recorded ones some may have been tried again.
  const recorded = kept
    .flatMap(([, ...lines]) => lines as RecordedLine[])
    .filter(({ type }) => stored.length === 0 || type !== 'undelivered');
  if (recorded.length === 0) return stored;
  const [header = kept[0]?.[0] as RecordedHeader, ...histories] = stored;
  // Nodes that took turns in hosting a place recorded one after another.
  if (kept.length > 1) recorded.sort((one, other) => one.at - other.at);
  const known = new Map<string, Set<number>>();
  for (const line of recorded) {
    if (line.type !== 'turn') continue;
    const turns = known.get(line.address) ?? new Set();
    known.set(line.address, turns);
    turns.add(line.turn);
  }
  const missing = new Map<string, RecordedLine[]>();
  const rest: RecordedLine[] = [];
  for (const line of histories as RecordedLine[]) {
    const turns = 'address' in line && line.address ? known.get(line.address) : undefined;
    if (line.type !== 'turn' || turns === undefined) rest.push(line);
    else if (!turns.has(line.turn)) {
      const own = missing.get(line.address) ?? [];
      missing.set(line.address, own);
      own.push(line);
    }
  }
  const definitions = recorded.filter(({ type }) => type === 'definition');
  const lines: RecordedLine[] = [];
  for (const line of recorded) {
    if (line.type === 'definition') continue;
    if (line.type === 'turn') lines.push(...taken(missing.get(line.address), line.turn));
    lines.push(line);
  }
  for (const own of missing.values()) lines.push(...own);
  const nodes = [...new Map(kept.flatMap(nodesOf).map((one) => [one.node, one])).values()];
  const whole = { ...(header as RecordedHeader), nodes };
  return [whole, ...definitions, ...lines, ...rest];
}

const nodesOf = ([header]: Lines) => (header as RecordedHeader).nodes;

/** Takes off those before a turn. */
function taken(turns: RecordedLine[] | undefined, before: number): RecordedLine[] {
  if (turns === undefined) return [];
  const index = turns.findIndex((line) => line.type === 'turn' && line.turn > before);
  return turns.splice(0, index < 0 ? turns.length : index);
}
