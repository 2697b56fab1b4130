/**
 * Inspector of a node of the command line, at `/inspector` of its listener; `/` leads there.
 *
 * Its viewers are the callers of the HTTP API: an operator may command, a reader looks. A token that is for some jobs
 * or actors only is not let in, for a page shows everything.
 */

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Callers, type HttpTokens } from '../../http/callers.ts';
import { HttpRefusal } from '../../http/refusal.ts';
import type { ApiProgram } from '../../http/route.ts';
import { isOfJobs } from '../../http/route.ts';
import type { Authorize } from '../../inspector/access.ts';
import type { JobOrders } from '../../inspector/commands.ts';
import { type InspectorHandler, inspectorHandler } from '../../inspector/mount.ts';
import type { RecordOptions } from '../../inspector/options.ts';
import type { RunsSource } from '../../inspector/runs/source.ts';
import { localClient } from '../../programs/jobs/index.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { systemClock } from '../../runtime/system/clock.ts';

const PREFIX = '/inspector';

export interface NodeInspectorOptions {
  readonly runtime: Runtime<never>;
  /** Program whose jobs may be extended and cancelled; nothing for a worker. */
  readonly api: ApiProgram | undefined;
  readonly role: string;
  /** What tells of the runs that it hosts. */
  readonly runs?: RunsSource;
  /** What it records from the start. */
  readonly record?: RecordOptions;
  readonly tokens: HttpTokens;
  readonly hosts: readonly string[] | undefined;
  readonly logger: Logger;
}

/** @throws {RuntimeError} OPTION_INVALID */
export function nodeInspector(options: NodeInspectorOptions): InspectorHandler {
  const { runtime, api, role, runs, record, tokens, logger } = options;
  const jobs = api !== undefined && isOfJobs(api) ? ordersOf(api) : undefined;
  return inspectorHandler(runtime, {
    prefix: PREFIX,
    role,
    authorize: authorizeBy(new Callers(tokens, systemClock(), logger)),
    ...(options.hosts !== undefined && {
      hosts: [...options.hosts, 'localhost', '127.0.0.1', '[::1]'],
    }),
    ...(jobs !== undefined && { jobs }),
    ...(runs !== undefined && { runs }),
    ...(record !== undefined && { record }),
  });
}

/** The inspector at its path, a way there from `/`, and everything else as before. */
export function withInspector(
  inspector: InspectorHandler,
  others: RequestListener,
): RequestListener {
  return (request: IncomingMessage, response: ServerResponse) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (path === PREFIX || path.startsWith(`${PREFIX}/`)) inspector(request, response);
    else if (path === '/' && request.method === 'GET') leadThere(response);
    else others(request, response);
  };
}

function leadThere(response: ServerResponse): void {
  response.writeHead(302, { location: `${PREFIX}/`, 'cache-control': 'no-store' });
  response.end();
}

function authorizeBy(callers: Callers): Authorize {
  return (request, token) => {
    try {
      // A browser shows its token in a cookie; the callers know the header.
      const shown = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const asked = { headers: { ...request.headers, ...shown }, socket: request.socket };
      const caller = callers.identify(asked as IncomingMessage, new URLSearchParams());
      if (caller.jobs !== undefined || caller.actors !== undefined)
        return {
          status: 403,
          why: 'This token is for some jobs or actors only; the page shows all.',
        };
      const mayCommand = caller.role === 'operator';
      const why = 'Commands are for the role operator.';
      return { viewer: { name: nameOf(caller.name), mayCommand, ...(!mayCommand && { why }) } };
    } catch (thrown) {
      if (!(thrown instanceof HttpRefusal)) throw thrown;
      return { status: 401, why: 'A valid token is needed: open the page with ?token=… once.' };
    }
  };
}

/** Name as it may stand in the id of a send. */
const nameOf = (name: string): string => name.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 40);

function ordersOf(program: Parameters<typeof localClient>[0]): JobOrders {
  const client = localClient(program);
  return {
    cancel: async (jobId) => {
      const answer = await client.cancel(jobId);
      if (answer.accepted) return 'Its end is ordered; its workflows are being stopped.';
      throw new RuntimeError('NOT_ALLOWED', `The job is not cancelled: ${answer.reason}.`);
    },
    extend: async (jobId, byMs, _reason, by) => {
      const answer = await client.extend(jobId, { byMs, by });
      if (answer.accepted) return `It has ${Math.round(byMs / 1_000)} s more.`;
      throw new RuntimeError('NOT_ALLOWED', `The job is not extended: ${answer.reason}.`);
    },
  };
}
