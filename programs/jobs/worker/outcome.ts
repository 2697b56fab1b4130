/**
 * Outcome of a handler, in the words of the wire.
 *
 * A result is a text of at most 64 KiB: a longer one is cut at a whole character and marked. What
 * cannot be made a text fails the run for good, because it would fail the next one too.
 */

import type { HandlerOutcome } from '../../../machines/jobs/attempt.ts';
import { PAYLOAD_BYTES_MAX } from '../../../machines/jobs/messages/fields.ts';
import { messageOf } from '../../../runtime/base/errors.ts';

const CODE_LENGTH_MAX = 128;
const DETAIL_LENGTH_MAX = 4_096;

export function succeeded(value: unknown): HandlerOutcome {
  let text: string | undefined;
  try {
    text = typeof value === 'string' ? value : JSON.stringify(value);
  } catch (thrown) {
    return unserializable(messageOf(thrown));
  }
  if (text === undefined && value !== undefined) return unserializable(`a ${typeof value}`);
  const cut = cutText(text ?? '');
  const result = text === undefined ? null : cut.text;
  return { ok: true, result, truncated: cut.isCut, error: null, retryable: true };
}

export function failed(thrown: unknown): HandlerOutcome {
  const { code, name, retryable } = fieldsOf(thrown);
  const shown = typeof code === 'string' && code !== '' ? code : name;
  return failure(
    typeof shown === 'string' && shown !== '' ? shown : 'Error',
    messageOf(thrown),
    retryable !== false,
  );
}

/** At most 64 KiB of UTF-8, no character torn. */
export function cutText(text: string): { readonly text: string; readonly isCut: boolean } {
  // A code unit takes at most three bytes, so most texts need not be measured.
  if (text.length * 3 <= PAYLOAD_BYTES_MAX) return { text, isCut: false };
  const bytes = Buffer.from(text);
  if (bytes.length <= PAYLOAD_BYTES_MAX) return { text, isCut: false };
  let end = PAYLOAD_BYTES_MAX;
  // Back to where the character begins that does not fit whole.
  while (((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
  return { text: bytes.toString('utf8', 0, end), isCut: true };
}

function unserializable(what: string): HandlerOutcome {
  return failure('resultInvalid', `The result cannot be written as JSON: ${what}.`, false);
}

function failure(code: string, detail: string, retryable: boolean): HandlerOutcome {
  const error = {
    code: code.slice(0, CODE_LENGTH_MAX),
    detail: detail.slice(0, DETAIL_LENGTH_MAX),
  };
  return { ok: false, result: null, truncated: false, error, retryable };
}

/** Fields of anything that can be thrown, also of what defends itself. */
function fieldsOf(thrown: unknown): { code?: unknown; name?: unknown; retryable?: unknown } {
  if (typeof thrown !== 'object' || thrown === null) return {};
  try {
    const { code, name, retryable } = thrown as Record<string, unknown>;
    return { code, name, retryable };
  } catch {
    return {};
  }
}
