/**
 * Answering: what a human says to a question, checked against what was asked and left in the folder of its run.
 *
 * The first answer stands. It is there durably before it is applied, whether the run is live or not.
 */

import type { QuestionRow } from '../../machines/agents/orchestration/context.ts';
import type { HumanAnswer, Part } from '../../machines/agents/task/context.ts';
import {
  ESCALATION_KEYS,
  ESCALATION_TEXTS,
  type EscalationKey,
} from '../../machines/agents/words.ts';
import { TIMEOUTS } from './plan/words.ts';
import { agentsOf } from './stored-plan.ts';
import { openStoredData, type StoredData } from './stored-runs.ts';

export interface Said {
  readonly questionId: string;
  /** Number, text or key of an option; any text where there are none. */
  readonly answer: string;
  /** What `clarify` says, the prompts of `split`. */
  readonly texts?: readonly string[];
  readonly parts?: readonly Part[];
  readonly timeoutMs?: number;
  /** Who says it, where that is known. */
  readonly by?: string;
}

/** `refusal`: why nothing has changed. */
export interface Answered {
  readonly refusal: string | null;
}

const refused = (refusal: string): Answered => ({ refusal });
const PARTS_MIN = 2;

export async function answerQuestion(data: string, said: Said): Promise<Answered> {
  const opened = await openStoredData(data);
  try {
    return answerAmong(opened, said);
  } finally {
    await opened.close();
  }
}

/** The same of data that is open. */
export function answerAmong(
  { stored, folder }: Pick<StoredData, 'stored' | 'folder'>,
  said: Said,
): Answered {
  const { questionId, by } = said;
  for (const { context, state } of stored.runs()) {
    const row = [...context.questions.values()].find((each) => each.questionId === questionId);
    if (row === undefined) continue;
    if (row.state !== 'open' || state === 'finished')
      return refused(`${questionId} was ${row.state === 'open' ? 'withdrawn' : row.state} before`);
    const read = readAnswer(row, said, agentsOf(context));
    if (typeof read === 'string') return refused(read);
    const answer = by === undefined ? read : { ...read, by };
    const isFirst = folder(context.runId).writeAnswer(questionId, answer);
    return isFirst ? { refusal: null } : refused(`${questionId} was answered before`);
  }
  return refused(`there is no question "${questionId}"`);
}

/** A text says why it is no answer. `agents` of the run's plan. */
function readAnswer(row: QuestionRow, said: Said, agents: readonly string[]): HumanAnswer | string {
  const nothing = { key: null, timeoutMs: null, parts: [] };
  if (row.kind === 'escalation') return readEscalation(row, said, agents);
  if (row.allow !== null) return readInboxAnswer(row.allow, said);
  if (row.options === null) return { ...nothing, answer: said.answer };
  const option = optionOf(row.options, said.answer);
  if (option === undefined)
    return `"${said.answer}" is none of its options: ${row.options.join(', ')}`;
  return { ...nothing, answer: option };
}

/** One of accept, edit, respond and ignore, with the text that belongs to it. */
function readInboxAnswer(
  allow: readonly string[],
  { answer, texts = [] }: Said,
): HumanAnswer | string {
  const type = optionOf(allow, answer);
  if (type === undefined) return `"${answer}" is none of ${allow.join(', ')}`;
  const needsText = type === 'edit' || type === 'respond';
  if (needsText && texts.length === 0) return `${type} needs --text`;
  const said = { type, args: needsText ? texts.join('\n') : null };
  return { key: null, timeoutMs: null, parts: [], answer: said };
}

function optionOf(options: readonly string[], answer: string): string | undefined {
  const number = /^\d+$/.test(answer) ? options[Number(answer) - 1] : undefined;
  return number ?? options.find((each) => each === answer);
}

function readEscalation(
  row: QuestionRow,
  said: Said,
  agents: readonly string[],
): HumanAnswer | string {
  const texts = Object.values(ESCALATION_TEXTS);
  const option = optionOf(texts, said.answer);
  const key = ESCALATION_KEYS.find(
    (each) => each === said.answer || ESCALATION_TEXTS[each] === option,
  );
  if (key === undefined)
    return `"${said.answer}" is none of its options: ${ESCALATION_KEYS.join(', ')}`;
  return EXTRAS[key](row, said, agents);
}

const EXTRAS: Readonly<
  Record<
    EscalationKey,
    (row: QuestionRow, said: Said, agents: readonly string[]) => HumanAnswer | string
  >
> = {
  split: (_, { texts = [], parts = [] }, agents) => {
    const all: readonly Part[] = [...texts.map((prompt) => ({ prompt })), ...parts];
    if (all.length < PARTS_MIN)
      return 'split needs two or more --text, or --tasks with two or more';
    const unknown = all.find(({ agent }) => agent !== undefined && !agents.includes(agent));
    if (unknown !== undefined) return `the plan has no agent "${unknown.agent}"`;
    return { key: 'split', answer: null, timeoutMs: null, parts: all };
  },
  clarify: (_, { texts = [] }) => {
    const text = texts.join('\n');
    if (text === '') return 'clarify needs --text';
    return { key: 'clarify', answer: text, timeoutMs: null, parts: [] };
  },
  increase: ({ limitMs }, { timeoutMs }) => {
    const limit = timeoutMs ?? 2 * (limitMs ?? 0);
    const { max } = TIMEOUTS.AGENT_TIMEOUT;
    if (limit <= (limitMs ?? 0))
      return `--timeout-ms must be greater than ${limitMs}, the limit now`;
    if (limit > max) return `--timeout-ms must be ${max} at most, and it would be ${limit}`;
    return { key: 'increase', answer: null, timeoutMs: limit, parts: [] };
  },
  skip: () => ({ key: 'skip', answer: null, timeoutMs: null, parts: [] }),
};
