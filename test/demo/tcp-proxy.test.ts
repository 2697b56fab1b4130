import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { TcpProxy } from '../../demo/tcp-proxy.ts';

const open: Array<() => Promise<unknown> | unknown> = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** A server that sends back what it is sent, and says how often somebody came. */
async function echoServer(): Promise<{ server: Server; port: number; arrivals: () => number }> {
  let arrivals = 0;
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    arrivals += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { server, port: (server.address() as AddressInfo).port, arrivals: () => arrivals };
}

async function proxyTo(target?: number): Promise<TcpProxy> {
  const proxy = await TcpProxy.open(target === undefined ? {} : { target });
  open.push(() => proxy.close());
  return proxy;
}

function dial(proxy: TcpProxy): Socket {
  const socket = connect(proxy.port, '127.0.0.1');
  socket.on('error', () => {});
  open.push(() => socket.destroy());
  return socket;
}

/** `once` would fail on the reset that comes before. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

/** Sends `text` and resolves when as much has come back. */
async function echoed(socket: Socket, text: string): Promise<string> {
  let back = '';
  const came = new Promise<void>((resolve) => {
    const take = (bytes: Buffer): void => {
      back += bytes.toString();
      if (back.length < text.length) return;
      socket.off('data', take);
      resolve();
    };
    socket.on('data', take);
  });
  socket.write(text);
  await came;
  return back;
}

describe('a TCP proxy', () => {
  test('passes bytes in both directions, unchanged and in order', async () => {
    const { port } = await echoServer();
    const proxy = await proxyTo(port);
    const text = Array.from({ length: 200_000 }, (_, line) => `${line}\n`).join('');
    expect(await echoed(dial(proxy), text)).toBe(text);
    expect(proxy.passedBytes).toBe(2 * text.length);
  });

  test('passes the end of one half and goes on with the other', async () => {
    const { port } = await echoServer();
    const socket = dial(await proxyTo(port));
    let back = '';
    socket.on('data', (bytes) => {
      back += bytes.toString();
    });
    socket.end('last words');
    await closed(socket);
    expect(back).toBe('last words');
  });

  test('holds everything back while it is cut, and goes on when it heals', async () => {
    const { port } = await echoServer();
    const proxy = await proxyTo(port);
    const socket = dial(proxy);
    expect(await echoed(socket, 'before')).toBe('before');
    proxy.cut();
    const passed = proxy.passedBytes;
    const came = echoed(socket, 'meanwhile');
    // A second connection goes a way that is not cut: by then the bytes of the first are there.
    const other = await proxyTo(port);
    await echoed(dial(other), 'elsewhere');
    expect(proxy.passedBytes).toBe(passed);
    proxy.heal();
    expect(await came).toBe('meanwhile');
  });

  test('takes connections while it is cut, and dials for them when it heals', async () => {
    const { port, arrivals } = await echoServer();
    const proxy = await proxyTo(port);
    proxy.cut();
    const socket = dial(proxy);
    await once(socket, 'connect');
    await expect.poll(() => proxy.connections).toBe(1);
    expect(arrivals()).toBe(0);
    proxy.heal();
    expect(await echoed(socket, 'hello')).toBe('hello');
  });

  test('tells an end that came while it was cut when it heals', async () => {
    const { port } = await echoServer();
    const proxy = await proxyTo(port);
    const socket = dial(proxy);
    await echoed(socket, 'hello');
    proxy.cut();
    socket.resetAndDestroy();
    proxy.heal();
    await expect.poll(() => proxy.connections).toBe(0);
  });

  test('cut by reset ends what there is and refuses what comes', async () => {
    const { port } = await echoServer();
    const proxy = await proxyTo(port);
    const socket = dial(proxy);
    await echoed(socket, 'hello');
    proxy.cut('reset');
    await closed(socket);
    await closed(dial(proxy));
    proxy.heal();
    expect(await echoed(dial(proxy), 'again')).toBe('again');
  });

  test('refuses where it leads nowhere, and where nobody listens', async () => {
    const proxy = await proxyTo();
    await closed(dial(proxy));
    const { server, port } = await echoServer();
    server.close();
    proxy.lead(port);
    await closed(dial(proxy));
    const second = await echoServer();
    proxy.lead(second.port);
    expect(await echoed(dial(proxy), 'there')).toBe('there');
  });

  test('refuses more connections than its limit', async () => {
    const { port } = await echoServer();
    const proxy = await TcpProxy.open({ target: port, connectionsMax: 1 });
    open.push(() => proxy.close());
    const first = dial(proxy);
    await echoed(first, 'one');
    await closed(dial(proxy));
    expect(await echoed(first, 'still there')).toBe('still there');
  });

  test('closes with connections open, also while it is cut', async () => {
    const { port } = await echoServer();
    const proxy = await TcpProxy.open({ target: port });
    const socket = dial(proxy);
    await echoed(socket, 'hello');
    proxy.cut();
    const ended = closed(socket);
    await proxy.close();
    await ended;
    expect(proxy.connections).toBe(0);
  });
});
