/**
 * Orders behind a plain `node:http` server.
 *
 *   POST /orders                { "total": 99 }     201 and where the order is
 *   POST /orders/:id/pay        Idempotency-Key: …  200, however often it is repeated
 *   GET  /orders/:id                                its state
 *   GET  /orders?state=paid                         all in that state, a page at a time
 *
 * Shows: one runtime for the whole server, the client's key as the identity of a send,
 * every error of the runtime as an HTTP status, and a shutdown that finishes what it began.
 *
 *   npx tsx examples/http-server.ts
 */

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { assign, setup } from 'xstate';
import { createRuntime, type ErrorCode, type Runtime, RuntimeError } from '../index.ts';
import type { Timed } from '../runtime/machine.ts';

export const orderMachine = setup({
  types: {
    context: {} as { total: number; paidAt: number | null },
    input: {} as { total: number },
    events: {} as Timed<{ type: 'order.paid' }>,
  },
  delays: { paymentLimit: 15 * 60_000 },
}).createMachine({
  id: 'order',
  context: ({ input }) => ({ total: input.total, paidAt: null }),
  initial: 'awaitingPayment',
  states: {
    awaitingPayment: {
      on: {
        'order.paid': { target: 'paid', actions: assign({ paidAt: ({ event }) => event.at }) },
      },
      after: { paymentLimit: 'expired' },
    },
    paid: { type: 'final' },
    expired: { type: 'final' },
  },
});

type Shop = Runtime<{ order: typeof orderMachine }>;

/** What a handler answers: a status and a body for it. */
interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly location?: string;
}

const BODY_CHARACTERS_MAX = 16 * 1024;

/** Codes whose status says more than "try again later" (503) or "our fault" (500). */
const STATUS: Partial<Record<ErrorCode, number>> = {
  ACTOR_ENDED: 409,
  ACTOR_EXISTS: 409,
  ACTOR_UNKNOWN: 404,
  ADDRESS_MALFORMED: 400,
  EVENT_REFUSED: 422,
  MAILBOX_FULL: 429,
  OPTION_INVALID: 400,
};

/** The server owns nothing: close it first, then stop the runtime. */
export function createShopServer(shop: Shop): Server {
  return createServer(async (request, response) => {
    const { status, body, location } = await answer(shop, request).catch(refusal);
    if (location !== undefined) response.setHeader('location', location);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(`${JSON.stringify(body)}\n`);
  });
}

async function answer(shop: Shop, request: IncomingMessage): Promise<Answer> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://shop');
  const [, resource, id, command, ...rest] = pathname.split('/');
  if (resource !== 'orders' || rest.length > 0) return problem(404, 'There is nothing here.');
  switch (`${request.method} ${id === undefined ? 'orders' : (command ?? 'order')}`) {
    case 'POST orders':
      return placeOrder(shop, await readJson(request));
    case 'GET orders':
      return listOrders(shop, searchParams);
    case 'GET order':
      return { status: 200, body: show(shop, id as string) };
    case 'POST pay':
      return payOrder(shop, id as string, request.headers['idempotency-key']);
    default:
      return problem(405, 'This is not done here.');
  }
}

async function placeOrder(shop: Shop, body: unknown): Promise<Answer> {
  const { total } = (body ?? {}) as { total?: unknown };
  if (typeof total !== 'number' || !(total > 0))
    return problem(422, 'Send { "total": … } with a number above 0.');
  const id = randomUUID();
  await shop.spawn(`order/${id}`, { input: { total } });
  return { status: 201, location: `/orders/${id}`, body: show(shop, id) };
}

/** The key makes the request repeatable: of several with one key, one is taken. */
async function payOrder(shop: Shop, id: string, key: unknown): Promise<Answer> {
  if (typeof key !== 'string') return problem(400, 'Send an Idempotency-Key header.');
  await shop.actor(`order/${id}`).send({ type: 'order.paid' }, { id: key });
  return { status: 200, body: show(shop, id) };
}

function listOrders(shop: Shop, parameters: URLSearchParams): Answer {
  const state = parameters.get('state');
  const cursor = parameters.get('cursor');
  const page = shop.query({
    kind: 'order',
    limit: 50,
    ...(state !== null && { state }),
    ...(cursor !== null && { cursor }),
  });
  const orders = page.actors.map((row) => ({
    address: row.address,
    state: row.state,
    dueAt: row.dueAt === null ? null : new Date(row.dueAt),
  }));
  return { status: 200, body: { orders, cursor: page.cursor ?? null } };
}

function show(shop: Shop, id: string) {
  const { value, context } = shop.actor(`order/${id}`).getSnapshot();
  const { total, paidAt } = context;
  return { id, state: value, total, paidAt: paidAt === null ? null : new Date(paidAt) };
}

function problem(status: number, message: string): Answer {
  return { status, body: { message } };
}

function refusal(thrown: unknown): Answer {
  if (!(thrown instanceof RuntimeError)) return problem(500, 'Something went wrong.');
  const status = STATUS[thrown.code] ?? (thrown.retryable ? 503 : 500);
  return { status, body: thrown.toJSON() };
}

/** Undefined for what is too long or not JSON. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    if (text.length <= BODY_CHARACTERS_MAX) text += chunk;
  }
  try {
    return text.length > BODY_CHARACTERS_MAX ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Runs until the process is told to end; then finishes what it began. */
async function serve(port: number): Promise<void> {
  const shop = await createRuntime({ node: 'shop-1', kinds: { order: orderMachine } });
  const server = createShopServer(shop);
  server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/orders`));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      server.close(() => void shop.stop());
      server.closeIdleConnections();
    });
  }
}

if (process.argv[1] === import.meta.filename) await serve(Number(process.env.PORT ?? 3000));
