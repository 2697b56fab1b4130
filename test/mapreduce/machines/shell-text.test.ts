/** Placeholders in shell texts: three places, everything else is refused. */

import { describe, expect, test } from 'vitest';
import { replaceInShell } from '../../../programs/mapreduce/shell-text.ts';

const replaced = (text: string) => replaceInShell(text, 'map').text;
const V0 = '${ESCAPEMENT_VAR_0}';

describe('a placeholder becomes a reference that fits its quotes', () => {
  test.each([
    ['echo ${item}', `echo "${V0}"`],
    ['echo "a ${item} b"', `echo "a ${V0} b"`],
    ["echo 'a ${item} b'", `echo 'a '"${V0}"' b'`],
    ['echo "it\'s" ${item}', `echo "it's" "${V0}"`],
    ["echo '\"' ${item}", `echo '"' "${V0}"`],
    ['echo \\" ${item}', `echo \\" "${V0}"`],
    ['echo "\\"${item}"', `echo "\\"${V0}"`],
    ["# it's\necho ${item}", `# it's\necho "${V0}"`],
    ['echo a#b ${item}', `echo a#b "${V0}"`],
    ['x=$(date); echo ${item}', `x=$(date); echo "${V0}"`],
    ['x=$(basename "$f"); echo ${item}', `x=$(basename "$f"); echo "${V0}"`],
    ['echo $((1+2)) ${item}', `echo $((1+2)) "${V0}"`],
    ['echo ${HOME} ${item.a.0}', `echo \${HOME} "${V0}"`],
    ['echo `date` ${item}', `echo \`date\` "${V0}"`],
  ])('%s', (text, expected) => expect(replaced(text)).toBe(expected));

  test('and what is escaped, or none, is left untouched', () => {
    const text = 'echo \\${item} ${items} ${map.results} ${item} $item';
    expect(replaceInShell(text, 'map')).toEqual({
      text: `echo \\\${item} \${items} \${map.results} "${V0}" $item`,
      placeholders: ['${item}'],
    });
  });
});

describe('a placeholder is refused', () => {
  test.each([
    'echo $(cat ${item})',
    'echo "$(cat ${item})"',
    'echo `cat ${item}`',
    'echo $((${item}+1))',
    'echo $[${item}+1]',
    'echo ${x:-${item}}',
    '((x = ${item}))',
    '[[ ${item} -eq 1 ]]',
    'cat <<E\n${item}\nE',
    "echo $'a' ${item}",
    "echo 'open ${item}",
    'echo "open ${item}',
    'echo $(case x in a) echo ${item};; esac)',
    'echo $(echo ")" ${item})',
    'echo $(echo \\) ${item})',
    'echo $(echo # )\n${item})',
    'echo `echo \\`${item}\\``',
  ])('in %s', (text) => {
    expect(() => replaced(text)).toThrow('${item}');
  });

  test('by its place, in words', () => {
    expect(() => replaced('echo $(cat ${item.id})')).toThrow(
      '${item.id} stands inside or after a command substitution',
    );
  });
});
