/** A server that speaks TLS, and those who come to it with something else. */

import type { Server } from 'node:https';
import { request as ask } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHttpHandler, createHttpServer, serverCounts } from '../../http/index.ts';
import { type Manager, startManager } from '../../programs/jobs/index.ts';
import {
  type CertificateAuthority,
  certificateAuthority,
  hasOpenssl,
} from '../transports/certificates.ts';
import { exchange } from './raw-connection.ts';
import { until } from './served.ts';

describe.skipIf(!hasOpenssl())('H34 with TLS', () => {
  let authority: CertificateAuthority;
  let ca: string;
  let manager: Manager;
  let server: Server;
  let port: number;
  const printed: string[] = [];
  const failures = () => serverCounts(server)?.handshakesFailed ?? 0;

  beforeAll(async () => {
    authority = certificateAuthority();
    ca = authority.ca;
    manager = await startManager({ datacenter: 'A' });
    const logger = {
      debug() {},
      info() {},
      warn: (_fields: object, text: string) => printed.push(text),
      error: (_fields: object, text: string) => printed.push(text),
    };
    const handler = createHttpHandler({ program: manager, logger });
    const tls = { ...authority.issue('gate'), ca, requestCert: true, rejectUnauthorized: true };
    server = createHttpServer(handler, { tls }) as Server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(async () => {
    server?.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await manager.stop();
    authority.close();
  });

  const statusWith = (certificate: { readonly cert?: string; readonly key?: string }) =>
    new Promise<number | string>((resolve) => {
      const request = ask(
        { port, host: '127.0.0.1', path: '/livez', ca, agent: false, ...certificate },
        (response) => resolve(response.resume().statusCode ?? 0),
      );
      request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
      request.end();
    });

  test('who is known is answered', async () => {
    expect(await statusWith(authority.issue('laptop'))).toBe(200);
  });

  test('who has said nothing over TLS is cut off in time, who has asked is not', async () => {
    const limits = { firstHeadMs: 500, keepAliveMs: 60_000 };
    const tls = { ...authority.issue('gate'), ca };
    const patient = createHttpServer((_request, response) => response.end('ok'), { tls, limits });
    await new Promise<void>((resolve) => patient.listen(0, '127.0.0.1', resolve));
    const to = { port: (patient.address() as AddressInfo).port, host: '127.0.0.1', ca };
    const asking = connect(to);
    await new Promise((resolve) => {
      asking.once('data', resolve);
      asking.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    });
    const silent = connect(to);
    silent.on('error', () => {});
    await new Promise((resolve) => silent.once('close', resolve).resume());
    expect(serverCounts(patient)).toMatchObject({ connectionsSilenced: 1, connectionsOpen: 1 });
    asking.destroy();
    await until(() => (serverCounts(patient)?.connectionsOpen === 0 ? true : undefined));
    patient.close();
  });

  test('plain HTTP is closed and counted', async () => {
    const before = failures();
    const { body } = await exchange(port, 'GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n');
    expect(body).toBe('');
    await until(() => (failures() > before ? true : undefined));
  });

  test('TLS 1.0 is closed and counted', async () => {
    const before = failures();
    await new Promise<void>((resolve) => {
      const socket = connect({
        port,
        host: '127.0.0.1',
        ca,
        minVersion: 'TLSv1',
        maxVersion: 'TLSv1',
        ciphers: 'DEFAULT@SECLEVEL=0',
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve());
    });
    await until(() => (failures() > before ? true : undefined));
  });

  test('a certificate of somebody else, or none, is closed and counted', async () => {
    const stranger = certificateAuthority();
    const before = failures();
    expect(await statusWith(stranger.issue('laptop'))).toEqual(expect.any(String));
    expect(await statusWith({})).toEqual(expect.any(String));
    stranger.close();
    await until(() => (failures() >= before + 2 ? true : undefined));
    expect(printed).toEqual([]);
    expect(await statusWith(authority.issue('laptop'))).toBe(200);
  });
});
