/**
 * The driver's wire to the handlers of worker processes: tells one of them to ask for an extension.
 *
 * Guarantees: a request is answered with what the worker was answered, or with why it did not ask. A
 * worker that is gone, or stands still, answers nothing; nobody waits for it.
 */

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Step } from '../../simulator/jobs/plan.ts';

type Extend = Extract<Step, { readonly do: 'extend' }>;

export class WorkerWire {
  readonly port: number;
  readonly #server: Server;
  /** The newest life of each worker. */
  readonly #sockets = new Map<string, Socket>();
  readonly #all = new Set<Socket>();
  readonly #failures: string[] = [];
  #asked = 0;

  static async open(): Promise<WorkerWire> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new WorkerWire(server);
  }

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (socket) => this.#take(socket));
  }

  /** Requests that a worker could not make. */
  get failures(): readonly string[] {
    return this.#failures;
  }

  /** `waitsMs`: how long the worker waits for a run that can ask. */
  extend({ worker, jobId, workflowId, progress, reason }: Extend, waitsMs: number): void {
    const socket = this.#sockets.get(worker);
    this.#asked += 1;
    const extend = { jobId, workflowId, progress, reason, waitsMs };
    if (socket === undefined) this.#failures.push(`${worker} has no handlers that listen`);
    else socket.write(`${JSON.stringify({ id: this.#asked, extend })}\n`);
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#all) socket.destroy();
    await closed;
  }

  #take(socket: Socket): void {
    let worker = '';
    this.#all.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#all.delete(socket);
      if (this.#sockets.get(worker) === socket) this.#sockets.delete(worker);
    });
    const lines = createInterface({ input: socket });
    // Of the socket, whose close says the same.
    lines.on('error', () => {});
    lines.on('line', (line) => {
      const { hello, failed } = JSON.parse(line) as { hello?: string; failed?: string };
      if (hello !== undefined) {
        worker = hello;
        this.#sockets.set(worker, socket);
      }
      if (failed !== undefined) this.#failures.push(`${worker}: ${failed}`);
    });
  }
}
