/**
 * Environment of a command of the handler `shell`: the variables that a program needs to run at all, and
 * those that the configuration of the worker names besides.
 *
 * Everything else stays with the worker: its secret, tokens and keys of others that its environment has,
 * and what would change how programs are loaded.
 */

const PASSED: readonly string[] = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'TZ'],
  ...['LANG', 'LANGUAGE', 'LC_ALL', 'LC_COLLATE', 'LC_CTYPE', 'LC_MESSAGES', 'LC_MONETARY'],
  ...['LC_NUMERIC', 'LC_TIME'],
];

/** Any process that has it is a node of the cluster. */
const NEVER_PASSED = 'ESCAPEMENT_SECRET';
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

type Environment = Readonly<Record<string, string | undefined>>;

/** First of the names that cannot be passed, if any. */
export function wrongName(names: readonly unknown[]): unknown {
  return names.find(
    (name) => typeof name !== 'string' || !NAME.test(name) || name === NEVER_PASSED,
  );
}

export function environmentOf(own: Environment, names: readonly string[]): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of [...PASSED, ...names]) {
    const value = own[name];
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}
