/**
 * Listening and dialling of a node: where it may listen, whom it may dial, and what it has to show for
 * that.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type CertificateAuthority,
  certificateAuthority,
  hasOpenssl,
} from '../transports/certificates.ts';
import { ConfigFolder, GOOD } from './config-folder.ts';

const folder = new ConfigFolder();

describe('a listener that others can reach (H8)', () => {
  test.each(['0.0.0.0:7400', '[::]:7400', '10.0.0.1:0', 'example.org:7400'])(
    '%s needs TLS and a secret',
    async (listen) => {
      const args = ['check', 'manager', '--datacenter', 'A', '--listen', listen];
      const bare = await folder.config(args);
      expect(bare.err).toContain('is not loopback: set "tls" and "secretFile"');
      expect(bare.code).toBe(78);
      const secret = await folder.config(args, { ESCAPEMENT_SECRET: 's'.repeat(32) });
      expect(secret.code).toBe(78);
    },
  );

  describe.skipIf(!hasOpenssl())('with certificates', () => {
    let authority: CertificateAuthority;
    beforeAll(() => {
      authority = certificateAuthority();
    });
    afterAll(() => authority?.close());
    const tls = (more: string) => {
      const { cert, key } = authority.issue('A.manager-1');
      const files = { cert, key, ca: authority.ca };
      const paths = Object.entries(files).map(([name, text]) => `${name}: ${folder.write(text)}`);
      return `${GOOD}listen: 0.0.0.0:0\ntls: {${paths.join(', ')}${more}}\n`;
    };

    test('needs a secret besides, or theirs', async () => {
      expect(await folder.check(tls(''))).toMatchObject({
        code: 78,
        err: expect.stringContaining('set "secretFile" or "tls.requireClientCertificate"'),
      });
      for (const [text, env] of [
        [tls(''), { ESCAPEMENT_SECRET: 's'.repeat(32) }],
        [tls(', requireClientCertificate: true'), {}],
      ] as const)
        expect(await folder.check(text, env)).toMatchObject({ code: 0, err: '' });
    });
  });

  test('may have a secret for each role instead, each its own', async () => {
    const file = (text: string) => folder.write(`${text.repeat(40)}\n`);
    const [worker, manager] = [file('w'), file('m')];
    const roles = `secretFiles: {worker: ${worker}, gate: ${file('g')}, manager: ${manager}}\n`;
    expect(await folder.check(`${GOOD}${roles}`)).toMatchObject({ code: 0, err: '' });
    for (const [text, said] of [
      [`secretFiles: {worker: ${worker}, manager: ${worker}}`, 'a secret of its own'],
      [`secretFiles: {worker: ${folder.write('short')}}`, 'secretFiles.worker: '],
      [`secretFiles: {king: ${worker}}`, 'secretFiles.king: there is no such key'],
    ] as const)
      expect(await folder.check(`${GOOD}${text}\n`)).toMatchObject({
        code: 78,
        err: expect.stringContaining(said),
      });
  });

  test('has files of certificates that are some, and end', async () => {
    for (const [cert, said] of [
      ['/dev/zero', '/dev/zero is not a file'],
      ['/', '/ is not a file'],
      [folder.write('x'.repeat(4 * 1024 * 1024 + 1)), 'at most 4194304 are read'],
      ['nowhere.pem', 'there is no file'],
      [folder.write('no PEM'), 'certificate and key cannot be used'],
    ] as const)
      expect(await folder.check(`${GOOD}tls: {cert: ${cert}, key: ${cert}}\n`)).toMatchObject({
        code: 78,
        err: expect.stringContaining(said),
      });
  });

  test.each(['127.0.0.1:0', 'localhost:7400', '[::1]:7400', '127.8.8.8:1'])(
    '%s does not',
    async (listen) => {
      const { code } = await folder.config([
        'check',
        'manager',
        '--datacenter',
        'A',
        '--listen',
        listen,
      ]);
      expect(code).toBe(0);
    },
  );
});

test.each([
  '127.0.0.1:-1',
  '127.0.0.1:65536',
  '127.0.0.1',
  ':7400',
  '7400',
  '127.0.0.1:x',
  '[x]:1',
])('a port or a host that is none is wrong usage on the command line: %s (H9)', async (listen) => {
  const flag = await folder.config(['check', 'manager', '--datacenter', 'A', `--listen=${listen}`]);
  expect(flag.err).toContain('--listen: listen: must be "host:port" with a port from 0 to 65535');
  expect(flag.code).toBe(64);
  const file = await folder.check(`${GOOD}listen: "${listen}"\n`);
  expect(file).toMatchObject({ code: 78, err: expect.stringContaining(':2:1: listen: ') });
});

describe('the list of peers (H11)', () => {
  test('loses this node itself and what stands there twice, with a warning', async () => {
    const peers =
      'ws://127.0.0.1:7400, ws://127.0.0.1:7401, ws://127.0.0.1:7401/, wss://nowhere.invalid:1';
    const text = `${GOOD}listen: 127.0.0.1:7400\npeers: [${peers}]\n`;
    const { code, out, err } = await folder.check(text);
    expect(err).toBe(
      'warning: peers: ws://127.0.0.1:7400 is this node itself\n' +
        'warning: peers: ws://127.0.0.1:7401/ stands there twice\n',
    );
    expect(out).toContain('OK');
    expect(code).toBe(0);
  });

  test('has a limit, and takes nothing but addresses', async () => {
    const many = Array.from({ length: 1_001 }, (_, n) => `ws://127.0.0.1:${n}`).join(', ');
    expect(await folder.check(`${GOOD}peers: [${many}]\n`)).toMatchObject({
      code: 78,
      err: expect.stringContaining('peers: must have at most 1,000 items'),
    });
    const most = Array.from({ length: 100_000 }, (_, n) => `ws://127.0.0.1:1/${n}`);
    expect(await folder.check(GOOD, { ESCAPEMENT_PEERS: most.join() })).toMatchObject({
      code: 78,
      err: expect.stringContaining('ESCAPEMENT_PEERS: peers: must have at most 1,000 items'),
    });
    for (const peer of ['http://a:1', 'localhost:22', 'ws://u:p@a:1', '3'])
      expect(await folder.check(`${GOOD}peers: ["${peer}"]\n`)).toMatchObject({
        code: 78,
        err: expect.stringContaining('peers[0]: must be a URL that begins with ws:// or wss://'),
      });
    expect(await folder.check(`${GOOD}peers: ["ws://10.0.0.1:7400"]\n`)).toMatchObject({
      code: 78,
      err: expect.stringContaining('peers[0]: off loopback it must be wss://'),
    });
  });
});
