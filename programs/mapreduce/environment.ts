/**
 * Environment of commands: what the runner has, without what is its own, and what tells a command which item it
 * is at.
 */

// Commands of a workflow run as the user's own: with the user's variables.
import { env } from 'node:process';
import { replaceLiterally, type Scope, type Values, valueFor } from './placeholders.ts';
import { replaceInShell, VARIABLE_PREFIX } from './shell-text.ts';
import type { Step } from './workflow.ts';

export interface CommandLine {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

/** Any process that has it is a node of a cluster. */
const NEVER_PASSED = new Set(['ESCAPEMENT_SECRET']);

/** @throws {ValueError} for a value that the command cannot be given */
export function commandLineOf(
  step: Step,
  scope: Scope,
  values: Values,
  claude: readonly string[],
  inherited: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): CommandLine {
  const stated = Object.entries(step.env).map(([name, text]) => [
    name,
    replaceLiterally(text, scope, values),
  ]);
  const variables = { ...inherited, ...Object.fromEntries(stated), ...own };
  if (step.kind === 'shell') {
    const { text, placeholders } = replaceInShell(step.texts[0] ?? '', scope);
    const replaced = placeholders.map((placeholder, index) => [
      `${VARIABLE_PREFIX}${index}`,
      valueFor(placeholder, values),
    ]);
    return {
      argv: ['/bin/sh', '-c', text],
      env: { ...variables, ...Object.fromEntries(replaced) },
    };
  }
  const texts = step.texts.map((text) => replaceLiterally(text, scope, values));
  const argv = step.kind === 'claude' ? [...claude, ...texts] : texts;
  return { argv: argv as [string, ...string[]], env: variables };
}

/** Variables of the runner that its commands get. */
export function inheritedVariables(): Readonly<Record<string, string>> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && !NEVER_PASSED.has(name)) variables[name] = value;
  return variables;
}
