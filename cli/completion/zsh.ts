/** Completion of zsh: words with what they are for, by the commands that were typed; otherwise files. */

import { type Flag, quoted, type Spot, type Word } from './spot.ts';

export function zshScript(spots: readonly Spot[]): string {
  const paths = spots.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  const cases = spots.map(
    (spot) => `    ${quoted(spot.path)})
      commands=(${[...spot.commands, ...spot.choices.map(bare)].map(described).join(' ')})
      flags=(${spot.flags.map(described).join(' ')}) ;;`,
  );
  const values = spots
    .flatMap(({ flags }) => flags)
    .filter(({ choices }) => choices.length > 0)
    .map(
      ({ word, choices }) => `    ${word}) compadd -- ${choices.map(quoted).join(' ')}; return ;;`,
    );
  const taking = new Set(spots.flatMap(({ flags }) => flags.filter(takesAny)).map(wordOf));
  return `#compdef escapement
_escapement() {
  local route='' word
  local -a commands flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${route:+$route }$word" in
      ${paths.join('|')}) route="\${route:+$route }$word" ;;
    esac
  done
  case "\${words[CURRENT-1]}" in
${[...new Set(values)].join('\n')}
    ${[...taking].join('|')}) _files; return ;;
  esac
  case "$route" in
${cases.join('\n')}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then _describe option flags
  elif (( \${#commands} )); then _describe command commands
  else _files
  fi
}
# Found in fpath it is called; sourced it is registered.
if [[ "\${funcstack[1]}" == _escapement ]]; then _escapement "$@"
else compdef _escapement escapement
fi
`;
}

function described({ word, description }: Word): string {
  return quoted(description === '' ? word : `${word}:${description.replaceAll(':', '\\:')}`);
}

const bare = (word: string): Word => ({ word, description: '' });
const takesAny = ({ takesValue, choices }: Flag): boolean => takesValue && choices.length === 0;
const wordOf = ({ word }: Word): string => word;
