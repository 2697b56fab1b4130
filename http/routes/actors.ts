/**
 * Routes about actors of any kind: list them, look at one, begin one, send one an event, bring one back, end one.
 *
 * An operator reaches every kind, a submitter those that are `openToClients`, as over a socket. Actors of
 * the jobs system take nothing this way: what is asked of them goes past the jobs service, which checks it.
 */

import { z } from 'zod';
import { isOwn, refusalOf } from '../../programs/jobs/jobs-service/permissions.ts';
import { WAITING_FOR } from '../../runtime/api.ts';
import { placeOf, wholeAddress } from '../../runtime/base/address.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { Runtime } from '../../runtime/runtime.ts';
import { actorPage } from '../actor-page.ts';
import type { Answer } from '../answer.ts';
import { duration, pageLimit } from '../parameters.ts';
import { HttpRefusal, invalid, refusalOf as refusalBy } from '../refusal.ts';
import { type Call, isOfJobs, routes, runtimeOf, type Service } from '../route.ts';
import { read } from '../schema.ts';

/** Another node may host the actor; whether the place is hosted at all, the runtime says. */
const anywhere = { isHosted: false } as const;

export const actorRoutes = routes([
  { name: 'actors.list', method: 'GET', path: '/v1/actors', isHosted: true, run: list },
  {
    name: 'actors.spawn',
    method: 'POST',
    path: '/v1/actors',
    ...anywhere,
    body: 'small',
    run: spawn,
  },
  { name: 'actors.show', method: 'GET', path: '/v1/actors/*address', ...anywhere, run: show },
  {
    name: 'actors.send',
    method: 'POST',
    path: '/v1/actors/*address',
    ...anywhere,
    body: 'small',
    run: send,
  },
  {
    name: 'actors.history',
    method: 'GET',
    path: '/v1/history/*address',
    ...anywhere,
    run: history,
  },
  {
    name: 'actors.explain',
    method: 'GET',
    path: '/v1/explain/*address',
    ...anywhere,
    run: explain,
  },
  order('revive'),
  order('end'),
  order('forget'),
]);

const nothing = z.strictObject({});
const text = z.string().min(1).max(1_024);

const listQuery = z.strictObject({
  kind: text.optional(),
  status: z.enum(['active', 'done', 'stopped']).optional(),
  state: text.optional(),
  tag: text.optional(),
  deadlineBefore: duration.optional(),
  stuckFor: duration.optional(),
  waitingFor: z.enum(WAITING_FOR).optional(),
  sort: z.enum(['address', 'deadline']).optional(),
  limit: pageLimit(500),
  cursor: text.optional(),
});

async function list(service: Service, { query, caller }: Call): Promise<Answer> {
  const { deadlineBefore, ...asked } = read(listQuery, query);
  const given = Object.entries(asked).filter(([, value]) => value !== undefined);
  const page = await actorPage(service, {
    ...(Object.fromEntries(given) as { limit: number }),
    ...(deadlineBefore !== undefined && { deadlineBefore: service.clock.now() + deadlineBefore }),
  });
  const actors = page.actors.filter(({ address }) => isOwn(caller.actors, address));
  return { status: 200, body: { ...page, actors } };
}

async function show(service: Service, { parameters, query }: Call): Promise<Answer> {
  read(nothing, query);
  const { address = '' } = parameters;
  const snapshot = await runtimeOf(service).actor(address).fetchSnapshot({
    timeoutMs: service.limits.answerMs,
  });
  return { status: 200, body: { address, snapshot } };
}

const historyQuery = z.strictObject({ limit: pageLimit(1_000) });

async function history(service: Service, call: Call): Promise<Answer> {
  const { address = '' } = call.parameters;
  const { limit } = read(historyQuery, call.query);
  await show(service, { ...call, query: {} });
  const timeoutMs = service.limits.answerMs;
  const rows = await runtimeOf(service).fetchHistory(address, { limit, timeoutMs });
  return { status: 200, body: { address, history: rows } };
}

async function explain(service: Service, call: Call): Promise<Answer> {
  const { address = '' } = call.parameters;
  await show(service, call);
  const timeoutMs = service.limits.answerMs;
  const explanation = await runtimeOf(service).explain(address, { timeoutMs });
  return { status: 200, body: { address, explanation } };
}

const spawnBody = z.strictObject({
  address: text,
  input: z.unknown().optional(),
  ifAbsent: z.boolean().optional(),
});

async function spawn(service: Service, call: Call): Promise<Answer> {
  read(nothing, call.query);
  const runtime = runtimeOf(service);
  const { address: named, ifAbsent = false, input } = read(spawnBody, call.body);
  const address = wholeAddress(named, runtime.place);
  const refusal = refusalOf(call.caller, 'actors.spawn', address);
  if (refusal !== undefined) throw new HttpRefusal('forbidden', refusal);
  checkOpen(service, call, address);
  await taken(
    runtime.spawn(address, {
      ifAbsent,
      ...(input !== undefined && { input }),
    } as never),
  );
  return ifAbsent
    ? { status: 200, body: { address } }
    : { status: 201, body: { address }, headers: { location: `/v1/actors/${address}` } };
}

const eventBody = z.looseObject({ type: text });

async function send(service: Service, call: Call): Promise<Answer> {
  read(nothing, call.query);
  const { address = '' } = call.parameters;
  const event = read(eventBody, call.body);
  // Answers go to questions of the runtime itself.
  if ('replyTo' in event) throw invalid('There is no such field.', 'replyTo');
  checkOpen(service, call, address);
  await taken(
    runtimeOf(service)
      .actor(address)
      .send(event, {
        timeoutMs: service.limits.answerMs,
        ...sendIdOf(call),
      }),
  );
  return { status: 200, body: { address, accepted: true } };
}

/** Two callers may have chosen one key. */
function sendIdOf({ caller, idempotencyKey }: Call): { readonly id?: string } {
  if (idempotencyKey === undefined) return {};
  const id = `${caller.name}:${idempotencyKey}`;
  if (id.length <= SEND_ID_MAX) return { id };
  const what = `It takes at most ${SEND_ID_MAX - caller.name.length - 1} characters here.`;
  throw invalid(what, 'Idempotency-Key');
}

const SEND_ID_MAX = 128;

/** @throws {HttpRefusal} forbidden */
function checkOpen({ program }: Service, { caller }: Call, address: string): void {
  if (isOfJobs(program)) {
    const what =
      'Actors of the jobs system take nothing from outside: submit, cancel or extend jobs.';
    throw new HttpRefusal('forbidden', what);
  }
  if (caller.role === 'operator') return;
  const { isClosedToClients } = Runtime.watchOf(program.runtime as never);
  // What is open elsewhere only the node there knows, and it would take this one for the sender.
  if (placeOf(address) === program.runtime.place && !isClosedToClients(address)) return;
  throw new HttpRefusal(
    'forbidden',
    'Its kind is not open to clients: this is for the role operator.',
  );
}

/** Answers what an actor does not take whatever the reason, with the code of the runtime. */
async function taken(carriedOut: Promise<unknown>): Promise<void> {
  try {
    await carriedOut;
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError) || refusalBy(thrown) !== undefined) throw thrown;
    throw new HttpRefusal('refused', `${thrown.message} (${thrown.code})`);
  }
}

/** Orders of operators about an actor of this place. Those of the jobs system are not ended by hand. */
function order(name: 'revive' | 'end' | 'forget') {
  return {
    name: `actors.${name}`,
    method: 'POST',
    path: `/v1/${name}/*address`,
    ...anywhere,
    body: 'small',
    async run(service: Service, call: Call): Promise<Answer> {
      read(nothing, call.query);
      read(nothing, call.body);
      const { address = '' } = call.parameters;
      const runtime = runtimeOf(service);
      if (placeOf(address) !== runtime.place)
        throw invalid(`Ask a node of "${placeOf(address)}".`, 'address');
      if (name !== 'revive') checkOpen(service, call, address);
      await taken(runtime[name](address));
      return { status: 200, body: { address, accepted: true } };
    },
  } as const;
}
