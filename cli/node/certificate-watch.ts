/**
 * Watches the end of this node's own certificate, after which no peer and no client gets in any more.
 *
 * Guarantees: from `warnBeforeMs` ahead on the log says so at the start and once a day, and an expired
 * one is said to be an error; the time that is left is a metric, and in `/readyz`, from the beginning. It
 * renews nothing: a node reads its certificate when it starts.
 */

import { X509Certificate } from 'node:crypto';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Cancel, Clock } from '../../runtime/ports/clock.ts';

export interface CertificateWatchOptions {
  /** PEM; of a chain the first one is the node's own. */
  readonly cert: string | Buffer;
  readonly warnBeforeMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

const DAY_MS = 86_400_000;

export class CertificateWatch {
  readonly #options: CertificateWatchOptions;
  readonly #endsAt: number;
  #cancel: Cancel | undefined;

  constructor(options: CertificateWatchOptions) {
    this.#options = options;
    this.#endsAt = Date.parse(new X509Certificate(options.cert).validTo);
  }

  /** Time until it has expired; negative afterwards. */
  get leftMs(): number {
    return this.#endsAt - this.#options.clock.now();
  }

  /** For `/readyz` and others that ask: a peer that connects sees the certificate itself. */
  get view(): {
    readonly expiresAt: string;
    readonly daysLeft: number;
    readonly isExpiring: boolean;
  } {
    const { leftMs } = this;
    return {
      expiresAt: new Date(this.#endsAt).toISOString(),
      daysLeft: Math.floor(leftMs / DAY_MS),
      isExpiring: leftMs <= this.#options.warnBeforeMs,
    };
  }

  start(): void {
    const { clock } = this.#options;
    this.#tell();
    this.#cancel = clock.schedule(clock.now() + DAY_MS, () => this.start());
  }

  stop(): void {
    this.#cancel?.();
  }

  #tell(): void {
    const { logger, warnBeforeMs } = this.#options;
    const { leftMs } = this;
    if (leftMs > warnBeforeMs) return;
    const fields = { expiresAt: this.#endsAt, daysLeft: Math.floor(leftMs / DAY_MS) };
    if (leftMs > 0)
      logger.warn({ event: 'certificate.expiring', ...fields }, 'own certificate expires soon');
    else
      logger.error(
        { event: 'certificate.expired', ...fields },
        'own certificate has expired: nobody gets in',
      );
  }
}
