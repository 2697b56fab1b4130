/** Warnings of a node about its own certificate, before and after it expires. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CertificateWatch } from '../../cli/node/certificate-watch.ts';
import { refuseUncheckedCertificates } from '../../cli/node/debugger.ts';
import { SimulatedClock } from '../../simulator/testing.ts';
import {
  type CertificateAuthority,
  certificateAuthority,
  hasOpenssl,
} from '../transports/certificates.ts';

const DAY_MS = 86_400_000;

describe.skipIf(!hasOpenssl())('a certificate of 60 days', () => {
  let authority: CertificateAuthority;
  let cert: string;
  beforeAll(() => {
    authority = certificateAuthority();
    cert = authority.issue('a', 'localhost', { days: 60 }).cert;
  });
  afterAll(() => authority.close());

  /** Starts this many days before it expires. */
  function start(daysBefore: number, warnBeforeMs = 30 * DAY_MS) {
    const clock = new SimulatedClock();
    const said: string[] = [];
    const say = (level: string) => (fields: object) => {
      const { event, daysLeft } = fields as { event: string; daysLeft: number };
      said.push(`${level} ${event} ${daysLeft}`);
    };
    const logger = { debug() {}, info() {}, warn: say('warn'), error: say('error') };
    const whole = new CertificateWatch({ cert, warnBeforeMs, clock, logger });
    clock.advanceBy(Math.round(whole.leftMs - daysBefore * DAY_MS));
    const watch = new CertificateWatch({ cert, warnBeforeMs, clock, logger });
    watch.start();
    return { clock, said, watch };
  }

  test('is warned of from 30 days before on, once a day, and told of when it has expired', () => {
    const { clock, said, watch } = start(31.5);
    clock.advanceBy(DAY_MS);
    expect(said).toEqual([]);
    clock.advanceBy(DAY_MS);
    expect(said).toEqual(['warn certificate.expiring 29']);
    clock.advanceBy(30 * DAY_MS);
    expect(said).toHaveLength(31);
    expect(said.at(-1)).toBe('error certificate.expired -1');
    expect(watch.leftMs).toBeLessThan(0);
    expect(watch.view).toMatchObject({ daysLeft: -1, isExpiring: true });
    watch.stop();
    clock.advanceBy(10 * DAY_MS);
    expect(said).toHaveLength(31);
  });

  test('that has expired says so at the start', () => {
    expect(start(-3.5).said).toEqual(['error certificate.expired -4']);
  });

  test('is shown to anybody who asks how the node is', () => {
    const { watch } = start(45.5);
    expect(watch.view).toEqual({
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      daysLeft: 45,
      isExpiring: false,
    });
  });

  test('is warned of as early as its owner wants', () => {
    expect(start(40.5, 45 * DAY_MS).said).toEqual(['warn certificate.expiring 40']);
    expect(start(40.5, DAY_MS).said).toEqual([]);
  });
});

test('an environment in which certificates are not checked is refused', () => {
  expect(() => refuseUncheckedCertificates({ env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } })).toThrow(
    expect.objectContaining({ exitCode: 78 }),
  );
  for (const env of [{}, { NODE_TLS_REJECT_UNAUTHORIZED: '1' }])
    expect(() => refuseUncheckedCertificates({ env })).not.toThrow();
});
