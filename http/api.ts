/**
 * HTTP API of a manager, a gate or a node of one's own kinds, as a function for `node:http` and whatever is
 * built on it.
 *
 *   head ─▶ target ─▶ Host, Origin ─▶ route ─▶ token ─▶ role ─▶ rate ─▶ media type ─▶ body ─▶ key ─▶ run
 *
 * Guarantees: every request is answered, whatever is thrown; a request that is refused has changed
 * nothing; a refusal says by a code why, except to a caller that was not let in. It listens
 * nowhere, and reads the name of no route from outside.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counters } from '../programs/jobs/counters.ts';
import { wholeAddress } from '../runtime/base/address.ts';
import { excerpt, messageOf, RuntimeError } from '../runtime/base/errors.ts';
import { type Logger, SILENT_LOGGER } from '../runtime/base/limits.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import { systemClock } from '../runtime/system/clock.ts';
import { systemRandom } from '../runtime/system/random.ts';
import { sendAnswer, sendRefusal } from './answer.ts';
import { type Body, checkMediaType, hasBody, ObjectReader, readBody } from './body.ts';
import type { Caller, HttpTokens } from './callers.ts';
import { ClientLanes } from './client-lanes.ts';
import { Guard } from './guard.ts';
import { checkHead } from './head.ts';
import { IdempotencyKeys, readIdempotencyKey } from './idempotency.ts';
import { type HttpLimits, resolveHttpLimits } from './limits.ts';
import { inWholeLines, metricsOf, withJobs } from './program-routes.ts';
import { Rates } from './rates.ts';
import { HttpRefusal, invalid, notLeader, refusalOf, tryLater } from './refusal.ts';
import {
  type Admitted,
  type ApiProgram,
  isAction,
  missing,
  type Route,
  type RouteTable,
  type Service,
} from './route.ts';
import { SubmissionReader } from './submission-reader.ts';
import { oncePerName, readTarget } from './target.ts';
import { Watchers } from './watchers.ts';

export interface HttpHandlerOptions {
  /** Program whose API it is: a gate, a manager, or `{ runtime }` with kinds of your own. */
  readonly program: ApiProgram;
  /**
   * Tokens of those who may call. Left out: everybody on this machine is operator, and nobody else is
   * let in.
   */
  readonly tokens?: HttpTokens;
  /**
   * Path at which it is mounted, such as `/escapement`, when the server leaves that in `url`: `node:http` and
   * Fastify do, Express does not. Default: nowhere.
   */
  readonly prefix?: string;
  /** Names by which the server may be called. Default: those of loopback, and where a request arrived. */
  readonly hosts?: readonly string[];
  /** True when it may be called by those of the default as well when `hosts` is given. Default: no. */
  readonly ownHosts?: boolean;
  readonly limits?: Partial<HttpLimits>;
  /** False while the process starts or ends: jobs are refused then, and /readyz says so. */
  readonly isReady?: () => boolean;
  /** More that /readyz says; everybody may read it. */
  readonly details?: () => object;
  /** More lines for /metrics. */
  readonly metrics?: () => string;
  readonly logger?: Logger;
  readonly clock?: Clock;
}

export interface HttpHandler {
  (request: IncomingMessage, response: ServerResponse): void;
  /** Ends all streams, refuses what comes, and resolves when every request is answered. */
  close(): Promise<void>;
}

const NOBODY: Caller = { name: '', client: '', role: 'reader', jobs: [] };

/** @throws {RuntimeError} OPTION_INVALID */
export function createHttpHandler(options: HttpHandlerOptions): HttpHandler {
  const api = new Api(options);
  return Object.assign(
    (request: IncomingMessage, response: ServerResponse) => api.take(request, response),
    { close: () => api.close() },
  );
}

class Api {
  readonly #service: Service;
  readonly #logger: Logger;
  readonly #table: RouteTable;
  readonly #prefix: string;
  readonly #guard: Guard;
  readonly #rates: Rates;
  readonly #lanes: ClientLanes;
  readonly #submissionLanes: ClientLanes;
  readonly #keys: IdempotencyKeys;
  readonly #counters = new Counters();
  readonly #underWay = new Set<Promise<void>>();
  #submissions = 0;
  #isClosed = false;

  constructor(options: HttpHandlerOptions) {
    const { program, clock = systemClock(), logger = SILENT_LOGGER } = options;
    const { tokens, hosts, ownHosts } = options;
    const limits = resolveHttpLimits(options.limits);
    const watchers = new Watchers({ clock, logger, limits });
    const { isReady = () => true, details = () => ({}), metrics = () => '' } = options;
    this.#logger = logger;
    this.#prefix = checkPrefix(options.prefix ?? '');
    this.#guard = new Guard({ tokens, hosts, ownHosts, clock, logger });
    this.#rates = new Rates(clock, limits.requestsPerMinute, limits.clientsMax);
    this.#lanes = new ClientLanes(clock, limits);
    const requestsAtOnceMax = limits.submissionsPerClientMax;
    this.#submissionLanes = new ClientLanes(clock, { ...limits, requestsAtOnceMax });
    const { idempotencyKeepMs, idempotencyKeysMax } = limits;
    this.#keys = new IdempotencyKeys(clock, idempotencyKeepMs, idempotencyKeysMax);
    this.#counters.observe('escapement_http_watchers', () => watchers.size);
    this.#counters.observe('escapement_http_requests_waiting', () => this.#lanes.waiting);
    const { service, table } = withJobs({
      program,
      limits,
      clock,
      watchers,
      isReady: () => !this.#isClosed && isReady(),
      details,
      metrics: () =>
        metricsOf(program) + inWholeLines(this.#counters.text() + inWholeLines(metrics())),
    });
    this.#service = service;
    this.#table = table;
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    const answered = this.#answer(request, response).finally(() => {
      this.#underWay.delete(answered);
    });
    this.#underWay.add(answered);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#service.watchers.close();
    await Promise.all(this.#underWay);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A connection that breaks is no error of the process.
    response.on('error', () => {});
    let name = 'none';
    try {
      const called = await this.#call(request, response, (route) => {
        name = route.name;
      });
      if (called !== undefined) sendAnswer(response, called);
    } catch (thrown) {
      this.#refuse(request, response, thrown);
    }
    const status = String(response.statusCode);
    this.#counters.add('escapement_http_requests_total', { route: name, status });
  }

  async #call(request: IncomingMessage, response: ServerResponse, found: (route: Route) => void) {
    const { limits, program } = this.#service;
    checkHead(request, limits.headersMax);
    const { segments, query } = readTarget(request.url ?? '', this.#prefix, limits.urlBytesMax);
    const { route, parameters, methods } = this.#table.find(request.method ?? '', segments);
    if (route === undefined || isAction(route.name)) this.#guard.checkOrigin(request);
    if (route === undefined) throw missing(methods);
    found(route);
    const { name } = route;
    const { jobId } = parameters;
    const address = parameters.address && wholeAddress(parameters.address, program.runtime.place);
    const caller = isAction(name)
      ? this.#guard.admit(request, query, name, jobId ?? address)
      : NOBODY;
    this.#spend(route, caller);
    const named = address === undefined ? parameters : { ...parameters, address };
    const admitted = { route, parameters: named, segments, query, caller };
    // What is answered at once is not counted, and streams are by themselves.
    if (!isAction(name) || route.isStream === true)
      return this.#carryOut(request, response, admitted);
    const leave = await this.#lanes.enter(caller.client, response);
    try {
      return await this.#carryOut(request, response, admitted);
    } finally {
      leave();
    }
  }

  async #carryOut(
    request: IncomingMessage,
    response: ServerResponse,
    { route, parameters, segments, query, caller }: Admitted,
  ) {
    const idempotencyKey = readIdempotencyKey(request.headers['idempotency-key']);
    const body = await this.#body(request, response, route, caller.client);
    if (idempotencyKey !== undefined && body !== undefined) {
      const use = `${route.name} ${segments.join('/')} ${body.digest}`;
      this.#keys.use(caller.client, idempotencyKey, use);
    }
    const once = oncePerName(query);
    return route.run(this.#service, {
      request,
      response,
      caller,
      parameters,
      query: once,
      body: body?.value,
      idempotencyKey,
    });
  }

  /** Says nothing about what the request is for, so it asks nobody. */
  #spend(route: Route, caller: Caller): void {
    const { program, isReady } = this.#service;
    if (!isAction(route.name)) return;
    this.#rates.spend(caller.client);
    if (route.isHosted === undefined) return;
    if (!isReady()) throw tryLater('notReady', 'This node is starting or stopping.');
    if (route.isHosted && !program.runtime.isHosting) throw notLeader();
  }

  async #body(
    request: IncomingMessage,
    response: ServerResponse,
    route: Route,
    client: string,
  ): Promise<Body<unknown> | undefined> {
    if (route.body === undefined) {
      if (hasBody(request)) throw invalid('There is no body here.', 'body');
      return undefined;
    }
    if (hasBody(request) || route.body === 'submission') checkMediaType(request);
    if (route.body === 'submission') {
      const leave = await this.#submissionLanes.enter(client, response);
      return this.#submission(request).finally(leave);
    }
    const { limits, clock } = this.#service;
    const { bodyBytesMax: partLengthMax, keysMax: keysInAllMax } = limits;
    const reader = new ObjectReader({ ...limits, keysInAllMax, partLengthMax });
    return readBody(request, reader, {
      bytesMax: limits.bodyBytesMax,
      limitMs: limits.bodyMs,
      clock,
    });
  }

  async #submission(request: IncomingMessage): Promise<Body<unknown>> {
    const { limits, clock } = this.#service;
    if (this.#submissions >= limits.submissionsMax)
      throw tryLater('overloaded', 'Other submissions are being read; send it again.');
    this.#submissions += 1;
    try {
      return await readBody(request, new SubmissionReader(limits), {
        bytesMax: limits.submissionBytesMax,
        limitMs: limits.bodyMs,
        clock,
      });
    } finally {
      this.#submissions -= 1;
    }
  }

  #refuse(request: IncomingMessage, response: ServerResponse, thrown: unknown): void {
    const { clock } = this.#service;
    const refusal = refusalOf(thrown) ?? this.#fault(thrown);
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const { endsConnection } = refusal;
    // A body that nobody has read would be taken for the next request.
    const isUnread = hasBody(request) && !request.readableEnded;
    const { code, message, field, headers } = refusal;
    const told =
      endsConnection || !isUnread
        ? refusal
        : new HttpRefusal(code, message, { field, headers, endsConnection: true });
    sendRefusal(request, response, told, clock);
  }

  /** A mistake of ours: the client gets a number, the log the rest. */
  #fault(thrown: unknown): HttpRefusal {
    const fault = systemRandom().id();
    const stack = thrown instanceof Error ? thrown.stack : undefined;
    this.#logger.error({ fault, error: messageOf(thrown), stack }, 'a request failed');
    return new HttpRefusal('internal', `Something went wrong here. It is in the log as ${fault}.`);
  }
}

function checkPrefix(prefix: string): string {
  if (prefix === '' || /^(?:\/[A-Za-z0-9._~-]+)+$/.test(prefix)) return prefix;
  const what = `"prefix" must be a path such as "/escapement", got ${excerpt(prefix)}.`;
  throw new RuntimeError('OPTION_INVALID', what);
}
