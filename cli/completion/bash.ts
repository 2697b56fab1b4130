/** The completion of bash: words by the commands that were typed; files where nothing fits. */

import { quoted, type Spot } from './spot.ts';

export function bashScript(spots: readonly Spot[]): string {
  const paths = spots.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  const values = [...valuesOf(spots)].map(
    ([choices, flags]) => `    ${flags.join('|')}) words=${quoted(choices)} ;;`,
  );
  const words = spots.map(
    ({ path, commands, flags, choices }) =>
      `    ${quoted(path)}) words=${quoted(
        [...commands.map(({ word }) => word), ...choices, ...flags.map(({ word }) => word)].join(
          ' ',
        ),
      )} ;;`,
  );
  return `# bash completion of escapement
_escapement() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${paths.join('|')}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$prev" in
${values.join('\n')}
    *) case "$path" in
${words.map((line) => `  ${line}`).join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _escapement escapement
`;
}

/**
 * By the values there are, which flags take them: flags of one name have the same everywhere. For
 * those that take anything there is no word, and bash offers files.
 */
function valuesOf(spots: readonly Spot[]): ReadonlyMap<string, readonly string[]> {
  const taking = spots.flatMap(({ flags }) => flags.filter(({ takesValue }) => takesValue));
  const choicesOf = new Map(taking.map(({ word, choices }) => [word, choices.join(' ')]));
  const flagsOf = new Map<string, string[]>();
  for (const [flag, choices] of choicesOf)
    flagsOf.set(choices, [...(flagsOf.get(choices) ?? []), flag]);
  return flagsOf;
}
