/**
 * Handlers that do what the test wants, and a worker that runs them.
 */

import { expect } from 'vitest';
import type { HandlerContext } from '../../../programs/jobs/worker.ts';
import { datacenter } from './datacenter.ts';

/** A handler that waits until the test ends it, and what it was given. */
export function held() {
  const contexts: HandlerContext[] = [];
  const ends: Array<{ resolve(value: unknown): void; reject(error: unknown): void }> = [];
  const work = (context: HandlerContext): Promise<unknown> => {
    contexts.push(context);
    return new Promise((resolve, reject) => ends.push({ resolve, reject }));
  };
  return { handlers: { work }, contexts, ends };
}

/** One that ends with the error of its signal. */
export const heeding = ({ signal }: HandlerContext): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

export const running = async (count = 1) => {
  const { handlers, contexts, ends } = held();
  const dc = await datacenter({ handlers });
  for (let number = 1; number <= count; number += 1) await dc.dispatch(`w${number}`);
  expect(contexts).toHaveLength(count);
  // The answers to the dispatches have left.
  await dc.rt.advance(10);
  return { dc, contexts, ends, context: contexts[0] as HandlerContext };
};
