/**
 * Steps of a workflow: one command each, by its kind.
 */

import type { CommandType } from '../../../machines/mapreduce/words.ts';
import { messageOf } from '../../../runtime/base/errors.ts';
import type { Scope } from '../placeholders.ts';
import { replaceInShell } from '../shell-text.ts';
import type { Field } from './field.ts';

export type StepKind = 'claude' | 'shell' | 'exec';

export interface Step {
  readonly kind: StepKind;
  readonly type: CommandType;
  /** The text of `claude` and `shell`, the arguments of `exec`. */
  readonly texts: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number | null;
  readonly idleTimeoutMs: number | null;
}

const KINDS: Readonly<Record<StepKind, CommandType>> = {
  claude: 'claude',
  shell: 'shell',
  exec: 'unknown',
};
const KEYS = ['claude', 'shell', 'exec', 'timeout_secs', 'idle_timeout_secs', 'env'];

/** @throws {WorkflowError} */
export function readSteps(field: Field, scope: Scope): readonly Step[] {
  const steps = field.list().map((each) => readStep(each, scope));
  if (steps.length === 0) field.wrong(`${field.name} must have a step`);
  return steps;
}

function readStep(field: Field, scope: Scope): Step {
  field.record(KEYS);
  const kinds = (Object.keys(KINDS) as StepKind[]).filter((kind) => !field.member(kind).isMissing);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1)
    field.wrong(`${field.name} must have exactly one of claude, shell, exec`);
  const command = field.member(kind);
  const texts = kind === 'exec' ? command.texts() : [command.text()];
  if (texts.length === 0) command.wrong(`${command.name} must name a program`);
  if (kind === 'shell') checkShell(command, texts[0] ?? '', scope);
  return {
    kind,
    type: KINDS[kind],
    texts,
    env: field.member('env').variables(),
    timeoutMs: field.member('timeout_secs').limit(),
    idleTimeoutMs: field.member('idle_timeout_secs').limit(),
  };
}

function checkShell(field: Field, text: string, scope: Scope): void {
  try {
    replaceInShell(text, scope);
  } catch (thrown) {
    field.wrong(`${field.name}: ${messageOf(thrown)}`);
  }
}
