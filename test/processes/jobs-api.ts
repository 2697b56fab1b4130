/**
 * The HTTP API of one node, as a client of it sees it: what is asked, and what came back.
 *
 * It throws nothing for an answer, whatever its status; only when there is none.
 */

export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

const LIMIT_MS = 10_000;

export async function askNode(
  url: string,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
  limitMs = LIMIT_MS,
): Promise<ApiAnswer> {
  const response = await fetch(new URL(path, url), {
    method,
    signal: AbortSignal.timeout(limitMs),
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}

/** Not said by the job system but by somebody on the way to it: another node may know better. */
export function isUnavailable({ status }: ApiAnswer): boolean {
  return status === 503 || status === 504 || status === 502;
}
