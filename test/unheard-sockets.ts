/**
 * Finds sockets that nobody would hear fail: without a listener for 'error' an ECONNRESET ends the
 * process, or the run of the tests, at a moment that depends on the network.
 *
 * A setup file of every test file: each TCP socket of its process has to have such a listener until it
 * is destroyed, whether anything failed or not. Several files may share a process, which is watched once.
 */

import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterAll, expect } from 'vitest';

const LIST = Symbol.for('escapement.unheard-sockets');
const shared = globalThis as { [LIST]?: string[] };
if (shared[LIST] === undefined) {
  const list: string[] = [];
  shared[LIST] = list;
  watchAll(list);
}
const unheard = shared[LIST];

afterAll(() => {
  expect(unheard.splice(0), "a socket ended without a listener for 'error'").toEqual([]);
});

function watchAll(list: string[]): void {
  subscribe('net.client.socket', (message) => {
    const { stack = '' } = new Error('opened here');
    watch(list, (message as { readonly socket: Socket }).socket, stack);
  });
  subscribe('net.server.socket', (message) => {
    const { socket } = message as { readonly socket: Socket };
    watch(list, socket, `accepted at port ${socket.localPort}`);
  });
}

function watch(list: string[], socket: Socket, from: string): void {
  const destroy = socket.destroy.bind(socket);
  // However it ends: until now something may have failed, from now on nothing is told.
  socket.destroy = (...reason) => {
    const isOpen = !socket.destroyed && !socket.connecting;
    if (isOpen && socket.listenerCount('error') === 0) list.push(from);
    return destroy(...reason);
  };
}
