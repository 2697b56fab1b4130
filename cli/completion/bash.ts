/** Completion of bash: words by the commands that were typed; files where nothing fits. */

import { quoted, type Spot } from './spot.ts';

export function bashScript(spots: readonly Spot[]): string {
  const paths = spots.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  const values = [...valuesOf(spots)].map(
    ([choices, flags]) => `    ${flags.map(quoted).join('|')}) words=${quoted(choices)} ;;`,
  );
  const taking = new Set(
    spots.flatMap(({ flags }) => flags.flatMap((flag) => (flag.takesValue ? [flag.word] : []))),
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
  case "$path $prev" in
${values.join('\n')}
    ${[...taking].map((flag) => `*${quoted(` ${flag}`)}`).join('|')}) ;;
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
 * Flags of commands by the values that they take. For those that take anything there is no word, and
 * bash offers files.
 */
function valuesOf(spots: readonly Spot[]): ReadonlyMap<string, readonly string[]> {
  const flagsOf = new Map<string, string[]>();
  for (const { path, flags } of spots)
    for (const { word, choices } of flags.filter(({ takesValue }) => takesValue)) {
      const values = choices.join(' ');
      flagsOf.set(values, [...(flagsOf.get(values) ?? []), `${path} ${word}`]);
    }
  return flagsOf;
}
