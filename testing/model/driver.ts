/**
 * Drivers: what a test is played against. The machine says what should be seen; a driver makes it happen
 * to something real and says what is seen.
 *
 * By default that is the engine itself in virtual time (engine-driver.ts). A team gives its own, for a
 * service, a page or a device: it leaves out of an observation what cannot be seen, and only the rest is
 * compared.
 */

import type { Observation } from './observation.ts';
import type { TestStep } from './step.ts';

export interface Driver {
  /** Begins a test: everything as if nothing had happened before. */
  start(input: unknown): void | Promise<void>;
  perform(step: TestStep): void | Promise<void>;
  observe(): Observation | Promise<Observation>;
  /** Ends a test, also one that failed. */
  stop?(): void | Promise<void>;
}

/** A new driver for each run of the tests. */
export type DriverFactory = () => Driver | Promise<Driver>;
