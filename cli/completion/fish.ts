/** Completion of fish: a line for each word, with what it is for. */

import { quoted, type Spot } from './spot.ts';

export function fishScript(spots: readonly Spot[]): string {
  return `# fish completion of escapement\n${spots.flatMap(linesOf).join('\n')}\n`;
}

function linesOf({ path, commands, flags, choices }: Spot): readonly string[] {
  const typed = path.split(' ').filter((word) => word !== '');
  const seen = typed.map((word) => `__fish_seen_subcommand_from ${word}`);
  const inside = seen.length === 0 ? '__fish_use_subcommand' : seen.join('; and ');
  const names = [...commands.map(({ word }) => word), ...choices].join(' ');
  // Once a command of a command is typed, its neighbours are no longer of use.
  const isOpen =
    seen.length === 0 || names === ''
      ? inside
      : `${inside}; and not __fish_seen_subcommand_from ${names}`;
  return [
    ...commands.map(
      ({ word, description }) =>
        `complete -c escapement -f -n ${quoted(isOpen)} -a ${word} -d ${quoted(description)}`,
    ),
    ...choices.map((word) => `complete -c escapement -f -n ${quoted(isOpen)} -a ${word}`),
    ...flags.map(({ word, description, takesValue, choices: values }) => {
      const value = takesValue ? ' -r' : '';
      const offered = values.length === 0 ? '' : ` -f -a ${quoted(values.join(' '))}`;
      return `complete -c escapement -n ${quoted(inside)} -l ${word.replace(/^--/, '')}${value}${offered} -d ${quoted(description)}`;
    }),
  ];
}
