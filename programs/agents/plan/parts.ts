/**
 * Parts of a task that is split, from a file: a list of prompts, with an agent and a priority where they differ.
 */

import type { Part } from '../../../machines/agents/task/context.ts';
import { Field } from '../../../reading/field.ts';
import { Issues } from '../../../reading/issues.ts';
import { readSource } from '../../../reading/source.ts';
import { RuntimeError } from '../../../runtime/base/errors.ts';
import { readGiven } from '../../runs.ts';
import { ID_PATTERN, ID_WORDS, PRIORITY, TASKS_MAX } from './words.ts';

const KEYS = { prompt: true, agent: false, priority: false } as const;

/** @throws {RuntimeError} AGENT_PLAN_INVALID */
export function readPartsFile(file: string): readonly Part[] {
  const text = readGiven(file, (why) => new RuntimeError('AGENT_PLAN_INVALID', `${file}: ${why}.`));
  const issues = new Issues(text, file, 'AGENT_PLAN_INVALID');
  const source = readSource(text, issues);
  const parts = source && new Field(source, '', issues).list(readPart, TASKS_MAX);
  issues.throwIfAny();
  return parts ?? [];
}

function readPart(field: Field): Part | undefined {
  const record = field.record(KEYS);
  const prompt = record?.prompt?.textWhere(() => true, 'a text');
  if (record === undefined || prompt === undefined) return undefined;
  const agent = record.agent?.text(ID_PATTERN, ID_WORDS);
  const priority = record.priority?.whole(PRIORITY);
  return {
    prompt,
    ...(agent !== undefined && { agent }),
    ...(priority !== undefined && { priority }),
  };
}
