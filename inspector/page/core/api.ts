/**
 * Questions to the server, and commands. Everything is relative to where the page is mounted.
 */

import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Command, CommandAnswer } from '../../protocol.ts';
import { hearTime } from './clock.ts';

/** A refusal in the server's words. */
class AnswerError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export type Params = Readonly<Record<string, string | readonly string[] | undefined>>;

export async function ask<TAnswer>(
  path: string,
  params: Params = {},
  signal?: AbortSignal,
): Promise<TAnswer> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params))
    for (const each of typeof value === 'string' ? [value] : (value ?? []))
      if (each !== '') query.append(name, each);
  const text = query.toString();
  return read(
    await fetch(`api/${path}${text === '' ? '' : `?${text}`}`, { ...(signal && { signal }) }),
  );
}

/** Never throws: a server that is gone is an answer too. */
export async function command(asked: Command): Promise<CommandAnswer> {
  try {
    return await post<CommandAnswer>('command', asked);
  } catch (thrown) {
    const { message, code } = thrown as AnswerError;
    return { at: 0, outcome: 'refused', why: message, ...(code && { code }) };
  }
}

export async function post<TAnswer>(path: string, body: unknown): Promise<TAnswer> {
  return read(
    await fetch(`api/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  );
}

async function read<TAnswer>(response: Response): Promise<TAnswer> {
  if (response.status === 204) return undefined as TAnswer;
  const answer = (await response.json().catch(() => undefined)) as
    | { readonly at?: number; readonly error?: { readonly code: string; readonly message: string } }
    | undefined;
  if (!response.ok || answer === undefined) {
    const {
      code = `HTTP_${response.status}`,
      message = `The server answered ${response.status}.`,
    } = answer?.error ?? {};
    throw new AnswerError(response.status, code, message);
  }
  if (typeof answer.at === 'number') hearTime(answer.at);
  return answer as TAnswer;
}

export interface Asked<TAnswer> {
  readonly answer: TAnswer | undefined;
  readonly error: string | undefined;
  readonly again: () => void;
}

/**
 * The answer to a question that belongs to what is shown: asked again when it changes, and every `everyMs`
 * while the page is seen. The answer before stays until the next one is there.
 */
export function useAnswer<TAnswer>(
  path: string | undefined,
  params: Params = {},
  everyMs?: number,
): Asked<TAnswer> {
  const answer: Signal<TAnswer | undefined> = useSignal<TAnswer | undefined>(undefined);
  const error = useSignal<string | undefined>(undefined);
  const turn = useSignal(0);
  const key = `${path} ${JSON.stringify(params)}`;
  const asked = useSignal(key);
  const before = asked.peek();
  if (before !== key) {
    // Another question: its answer is not that of the one before.
    asked.value = key;
    if (before.split(' ')[0] !== path) answer.value = undefined;
  }
  const round = turn.value;
  useEffect(() => {
    if (path === undefined) return undefined;
    const ending = new AbortController();
    let questions = 0;
    let answered = 0;
    const once = (): void => {
      if (document.hidden && answer.peek() !== undefined) return;
      questions += 1;
      const question = questions;
      ask<TAnswer>(path, params, ending.signal).then(
        (given) => {
          // The answer to an earlier question may be late, also that to another one.
          if (ending.signal.aborted || question < answered) return;
          answered = question;
          answer.value = given;
          error.value = undefined;
        },
        (thrown: Error) => {
          if (!ending.signal.aborted) error.value = thrown.message;
        },
      );
    };
    once();
    const timer = everyMs === undefined ? undefined : setInterval(once, everyMs);
    return () => {
      ending.abort();
      clearInterval(timer);
    };
  }, [key, everyMs, round]);
  return {
    answer: answer.value,
    error: error.value,
    again: () => {
      turn.value += 1;
    },
  };
}
