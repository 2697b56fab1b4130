/**
 * Keeps docs/spec complete and true: every id that the project names has an entry there, and the
 * entry of an invariant says what the invariant says.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { jobsInvariants } from '../../simulator/jobs/invariants/index.ts';
import { listProjectFiles, ROOT, readProjectFile } from '../project-files.ts';

const FOLDER = 'docs/spec/';
/** `JB-7`; hostile inputs `H45`, scenarios `S41` and `10.7.3`, decisions `D20`. */
const ID = /\b(?:[A-Z]{2,3}-\d{1,2}|[HS][1-9]\d?|[DN][1-9]\d|10\.7\.\d{1,2})\b/g;
/** Standards, licences, names of nodes and a word of another protocol; `XX-1` is invented where tests need any id. */
const NO_RULE = /^(?:UTF|CRC|SSH|DC|EPL|GPL|XX)-/;
/** Texts with ids; what programs stored is not written for readers. */
const READ = /\.(?:ts|mjs|md|yaml|sh)$/;

const files = listProjectFiles();
const pages = files.filter((path) => path.startsWith(FOLDER));
const entries = pages.flatMap(entriesOf);

describe('docs/spec', () => {
  test('has an entry for every id that the project names', () => {
    const known = new Set(entries.map(({ id }) => id));
    const missing = files
      .filter((path) => READ.test(path) && !path.startsWith(FOLDER))
      .flatMap((path) => namedIn(path).map((id) => ({ id, path })))
      .filter(({ id }) => !known.has(id));
    expect(missing.map(({ id, path }) => `${path}: ${id}`)).toEqual([]);
  });

  test('has no id twice', () => {
    const ids = entries.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  test('says of each invariant what the simulator judges, with its kind', () => {
    const written = new Map(entries.map(({ id, text }) => [id, text]));
    for (const { id, kind, says } of jobsInvariants) {
      expect.soft(written.get(id), id).toBe(`${kind}: ${says}`);
    }
  });

  test('names only files that exist', () => {
    const named = pages.flatMap((page) =>
      Array.from(
        readProjectFile(page).matchAll(/`((?:test|bench)\/[^`]+)`/g),
        ([, path = '']) => path,
      ),
    );
    expect(named).not.toEqual([]);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

/** Items `- **JB-7** text`, which may go on in indented lines. */
function entriesOf(page: string): readonly { readonly id: string; readonly text: string }[] {
  const items = readProjectFile(page).matchAll(/^- \*\*([A-Z\d.-]+)\*\* (.+(?:\n {2}.+)*)/gm);
  return Array.from(items, ([, id = '', text = '']) => ({ id, text: text.replace(/\n +/g, ' ') }));
}

function namedIn(path: string): readonly string[] {
  const named = readProjectFile(path).match(ID) ?? [];
  return [...new Set(named)].filter((id) => !NO_RULE.test(id));
}
