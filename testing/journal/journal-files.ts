/**
 * Test files made of a journal: the actors of a real run that show every move of it, and the file that holds the machine
 * against them. Actors that show nothing new are left out.
 */

import type { GeneratedFile, GenerateOptions } from '../model/generate.ts';
import { HEADER, importedMachine, kebab } from '../model/generate.ts';
import { canonical, type JournalTurn, nameOf } from './journal.ts';

/** Of each move one actor that makes it, short lives first. */
export function telling(
  actors: ReadonlyArray<readonly JournalTurn[]>,
): Array<readonly JournalTurn[]> {
  const seen = new Set<string>();
  return actors
    .toSorted((one, other) => one.length - other.length)
    .filter((turns) => {
      const known = seen.size;
      let from = '';
      for (const { event, state } of turns) {
        const to = state === undefined ? from : canonical(state);
        seen.add(nameOf({ from, event: event.type, to }));
        from = to;
      }
      return seen.size > known;
    });
}

export function journalFiles(
  actors: ReadonlyArray<readonly JournalTurn[]>,
  options: Pick<GenerateOptions, 'name' | 'importPath' | 'isDefault'>,
): GeneratedFile[] {
  const base = kebab(options.name);
  const { line, machine } = importedMachine(options);
  const lines = telling(actors).flatMap((turns) =>
    turns.map((turn) => `  ${JSON.stringify(turn)},\n`),
  );
  return [
    {
      name: `${base}.journal.js`,
      isKept: false,
      text: `${HEADER}\n\nexport const turns = [\n${lines.join('')}];\n`,
    },
    {
      name: `${base}.journal.test.js`,
      isKept: false,
      text: [
        HEADER,
        '',
        `import { describeJournal } from 'escapement/testing';`,
        line,
        `import { turns } from './${base}.journal.js';`,
        '',
        `await describeJournal(${machine}, turns);`,
        '',
      ].join('\n'),
    },
  ];
}
