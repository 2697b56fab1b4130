/** Checks an event by the validator that its kind has for it; one that answers later is no validator. */

import { messageOf, RuntimeError } from '../base/errors.ts';
import type { StandardSchema } from './kind.ts';

/** @throws {RuntimeError} EVENT_REFUSED, OPTION_INVALID */
export function validateEvent(
  schema: StandardSchema,
  event: { readonly type: string },
  address: string,
): void {
  let result: unknown;
  try {
    result = schema['~standard'].validate(event) ?? NO_ANSWER;
  } catch (thrown) {
    result = { issues: [{ message: messageOf(thrown) }] };
  }
  if (typeof (result as Partial<PromiseLike<unknown>>).then === 'function') {
    // Nobody will wait for it, so nobody would hear of its failure.
    (result as PromiseLike<unknown>).then(undefined, () => {});
    throw new RuntimeError(
      'OPTION_INVALID',
      `The validator of "${event.type}" is asynchronous; it must answer at once.`,
    );
  }
  const { issues } = result as { issues?: ReadonlyArray<{ readonly message: string }> };
  if (issues === undefined || issues.length === 0) return;
  const what = issues
    .slice(0, 3)
    .map(({ message }) => message)
    .join('; ');
  throw new RuntimeError(
    'EVENT_REFUSED',
    `Event "${event.type}" was refused by its validator: ${what}`,
    { address },
  );
}

const NO_ANSWER = { issues: [{ message: 'the validator answered nothing' }] };
