/**
 * Offset of the first character at which a text is no JSON any more; engines name it in some of their errors only.
 */

const TOKEN =
  /\s*(?:("(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[Ee][+-]?\d+)?|true|false|null)|([{}[\],:]))/uy;

/** Tokens that may stand next: `v` for a value, `k` for a key. */
const NEXT = { value: 'v{[', listBegun: 'v{[]', mapBegun: 'k}', key: 'k', colon: ':' } as const;

export function findJsonError(text: string): number {
  const open: string[] = [];
  let next: string = NEXT.value;
  for (let at = 0; ; at = TOKEN.lastIndex) {
    const from = at + (/^\s*/.exec(text.slice(at, at + 10_000))?.[0].length ?? 0);
    TOKEN.lastIndex = at;
    const [, scalar, mark = ''] = TOKEN.exec(text) ?? [];
    const token = scalar === undefined ? mark : 'v';
    const isKey = next.includes('k') && scalar?.startsWith('"') === true;
    if (token === '' || !(isKey || next.includes(token))) return from;
    if (token === '{' || token === '[') open.push(token);
    if (token === '}' || token === ']') open.pop();
    const within = open.at(-1);
    if (isKey) next = NEXT.colon;
    else if (token === ':') next = NEXT.value;
    else if (token === ',') next = within === '{' ? NEXT.key : NEXT.value;
    else if (token === '{') next = NEXT.mapBegun;
    else if (token === '[') next = NEXT.listBegun;
    else if (within === undefined) next = '';
    else next = within === '{' ? ',}' : ',]';
  }
}
