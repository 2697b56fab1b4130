/**
 * Questions of a run to a human, each with a form of its answers. What was typed stays while the page is told anew of
 * the run; the first answer stands, so one is given by a button of its own.
 */

import { useSignal } from '@preact/signals';
import type { CommandAnswer, QuestionLine, QuestionOption } from '../../protocol.ts';
import { command } from '../core/api.ts';
import { reason } from '../core/live.ts';
import { duration, plain } from '../core/words.ts';
import { Ago, Note } from '../parts/marks.tsx';
import { ShownValue } from './actor-side.tsx';

export type Said = CommandAnswer & { readonly question: string };

export function Questions({
  questions,
  onSaid,
}: {
  questions: readonly QuestionLine[];
  onSaid: (said: Said) => void;
}) {
  if (questions.length === 0) return null;
  return (
    <ul class="questions" aria-label="Needs you">
      {questions.map((question) => (
        <Question key={question.id} question={question} onSaid={onSaid} />
      ))}
    </ul>
  );
}

/** What is shorter is shown at once. */
const SHORT_BYTES = 600;

function Question({
  question: { id, task, kind, text, askedAt, options, about },
  onSaid,
}: {
  question: QuestionLine;
  onSaid: (said: Said) => void;
}) {
  const chosen = useSignal(options?.length === 1 ? (options[0]?.answer ?? '') : '');
  const typed = useSignal('');
  const isAsking = useSignal(false);
  const option = options?.find((each) => each.answer === chosen.value);
  const problem = problemOf(options, option, typed.value);
  const answer = async (): Promise<void> => {
    if (problem !== '') return;
    isAsking.value = true;
    const given = await command({ type: 'answer', question: id, ...saidBy(option, typed.value) });
    isAsking.value = false;
    onSaid({ ...given, question: id });
  };
  return (
    <li class="question">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void answer();
        }}
      >
        <p class="soft">
          <b>{plain(id)}</b>, of task {plain(task)}, asked <Ago at={askedAt} />
          {kind === 'escalation' && '; nothing more is tried until somebody decides'}
        </p>
        <p class="question-text">{plain(text)}</p>
        {about !== undefined && (
          <details open={about.bytes < SHORT_BYTES}>
            <summary>What it is about</summary>
            <ShownValue shown={about} />
          </details>
        )}
        {reason('answer') === '' ? (
          <>
            {options !== undefined && (
              <fieldset class="choices">
                <legend class="hidden">Answers</legend>
                {options.map((each) => (
                  <label key={each.answer}>
                    <input
                      type="radio"
                      name={`answer ${id}`}
                      value={each.answer}
                      checked={chosen.value === each.answer}
                      onChange={() => {
                        chosen.value = each.answer;
                      }}
                    />
                    {plain(each.label)}
                  </label>
                ))}
              </fieldset>
            )}
            <Typed
              option={option}
              isFree={options === undefined}
              value={typed.value}
              onInput={(value) => {
                typed.value = value;
              }}
            />
            <div class="deeds">
              <button type="submit" disabled={isAsking.value || problem !== ''} title={problem}>
                Answer
              </button>
              {problem !== '' && <small class="soft">{problem}</small>}
            </div>
          </>
        ) : (
          <Note>{reason('answer')}</Note>
        )}
      </form>
    </li>
  );
}

function Typed({
  option,
  isFree,
  value,
  onInput,
}: {
  option: QuestionOption | undefined;
  isFree: boolean;
  value: string;
  onInput: (value: string) => void;
}) {
  const label = isFree ? 'Answer' : option?.needs && LABELS[option.needs];
  if (!label) return null;
  const field = { 'aria-label': label, value };
  return (
    <label class="typed">
      <span class="soft">
        {label}
        {option?.limitMs !== undefined && `, more than ${duration(option.limitMs)}`}
      </span>
      {option?.needs === 'limit' ? (
        <input
          {...field}
          type="number"
          min="1"
          placeholder="twice what it was"
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      ) : (
        <textarea {...field} rows={3} onInput={(event) => onInput(event.currentTarget.value)} />
      )}
    </label>
  );
}

const LABELS: Readonly<Record<NonNullable<QuestionOption['needs']>, string>> = {
  text: 'Text',
  texts: 'Parts, a prompt on each line',
  limit: 'Limit in seconds',
};

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** What is missing to an answer, as words; empty where nothing is. */
function problemOf(
  options: readonly QuestionOption[] | undefined,
  option: QuestionOption | undefined,
  text: string,
): string {
  if (options === undefined) return text.trim() === '' ? 'Write an answer.' : '';
  if (option === undefined) return 'Choose an answer.';
  if (option.needs === 'text' && text.trim() === '') return 'It needs a text.';
  if (option.needs === 'texts' && linesOf(text).length < 2) return 'It needs two lines or more.';
  const limitMs = Number(text) * 1_000;
  if (option.needs === 'limit' && text !== '' && !(limitMs > (option.limitMs ?? 0)))
    return 'The limit must be greater than it is.';
  return '';
}

function saidBy(option: QuestionOption | undefined, text: string) {
  if (option === undefined) return { answer: text };
  const { answer, needs } = option;
  if (needs === 'text') return { answer, texts: [text] };
  if (needs === 'texts') return { answer, texts: linesOf(text) };
  if (needs === 'limit' && text !== '')
    return { answer, limitMs: Math.round(Number(text) * 1_000) };
  return { answer };
}
