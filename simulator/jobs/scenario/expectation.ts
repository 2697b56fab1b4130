/**
 * Expectation of a scenario: the part of the result that its file writes down.
 *
 * Guarantees: every key is one of the result and every value one that the result could have, so a
 * misspelt expectation is a mistake and not a promise that nobody looks at. Where a number is
 * expected a pair is a range, both ends included. `null` is what is not there.
 */

import { DENIAL_REASONS } from '../../../machines/jobs/messages/worker.ts';
import {
  type Authority,
  JOB_STATUSES,
  REASONS,
  WORKER_STATES,
} from '../../../machines/jobs/words.ts';
import type { Field } from '../../../reading/field.ts';
import type { Step } from '../plan.ts';
import type { Places } from './places.ts';

export type Expected = string | number | null | ExpectedRange | readonly string[] | ExpectedMap;

export interface ExpectedRange {
  readonly from: number;
  readonly to: number;
}

export type ExpectedMap = ReadonlyMap<string, Expected>;

/** Expectation of the whole result. */
export type Expectation = ExpectedMap;

/** Moments are not before zero here, and nothing is counted below it. */
const COUNTS = { min: 0, max: Number.MAX_SAFE_INTEGER };

/** What a value of the result can be. */
type Shape =
  | 'number'
  | 'manager'
  | 'datacenters'
  | { readonly words: readonly string[] }
  | { readonly map: Readonly<Record<string, Shape>> }
  | { readonly each: Shape; readonly of: 'jobs' | 'datacenters' | 'workers' | 'workflows' };

const ENDED = { status: { words: JOB_STATUSES }, reason: { words: REASONS } } as const;

const WORKFLOW: Shape = {
  map: {
    state: {
      words: ['pending', 'running', 'completed', 'aggregated', 'failed', 'cancelled'],
    },
    attempts: 'number',
    atMs: 'number',
  },
};

const DATACENTER: Shape = {
  map: {
    ...ENDED,
    gateReason: { words: REASONS },
    localReason: { words: REASONS },
    atMs: 'number',
    leader: 'manager',
    leaderFence: 'number',
    startedAtMs: 'number',
    extensionsMs: 'number',
    authority: { words: ['localAuthority', 'gateCoordinated'] satisfies readonly Authority[] },
    reportedAtMs: 'number',
    workflows: { each: WORKFLOW, of: 'workflows' },
    lateEvents: 'number',
  },
};

const RESULT: Shape = {
  map: {
    endedAtMs: 'number',
    turns: 'number',
    jobs: {
      of: 'jobs',
      each: {
        map: {
          gate: {
            map: {
              ...ENDED,
              atMs: 'number',
              decisions: 'number',
              withdrawn: 'number',
              unconfirmed: 'datacenters',
            },
          },
          datacenters: { of: 'datacenters', each: DATACENTER },
        },
      },
    },
    workers: {
      of: 'workers',
      each: {
        map: {
          health: { words: WORKER_STATES },
          extensions: 'number',
          extendedMs: 'number',
          denials: 'number',
          lastDenial: {
            words: DENIAL_REASONS,
          },
        },
      },
    },
    counters: {
      map: {
        staleFencesRejected: 'number',
        statusCorrections: 'number',
        timeoutReports: 'number',
        globalTimeoutsDeclared: 'number',
        extensionsGranted: 'number',
        extensionsDenied: 'number',
        staleAttempts: 'number',
      },
    },
  },
};

export function readExpectation(
  field: Field | undefined,
  places: Places,
  steps: readonly Step[],
): Expectation {
  if (field === undefined) return new Map();
  return (new Reading(places, steps).value(field, RESULT, '') ?? new Map()) as ExpectedMap;
}

class Reading {
  readonly #places: Places;
  readonly #jobs: readonly string[];
  readonly #workflows: readonly string[];

  constructor(places: Places, steps: readonly Step[]) {
    this.#places = places;
    const jobs = steps.flatMap((step) => (step.do === 'submit' ? [step.job] : []));
    this.#jobs = [...new Set(jobs.map(({ jobId }) => jobId))];
    this.#workflows = [...new Set(jobs.flatMap(({ workflows }) => workflows.map(({ id }) => id)))];
  }

  value(field: Field, shape: Shape, key: string): Expected | undefined {
    if (field.isNull) return null;
    switch (shape) {
      case 'number':
        return readNumber(field, key);
      case 'manager':
        return this.#places.shown(field, 'manager');
      case 'datacenters':
        return field.items().flatMap((item) => this.#places.datacenter(item) ?? []);
      default:
        if ('words' in shape) return field.word(shape.words);
        return 'map' in shape ? this.#record(field, shape.map) : this.#each(field, shape);
    }
  }

  #record(field: Field, shapes: Readonly<Record<string, Shape>>): ExpectedMap {
    const keys = Object.fromEntries(Object.keys(shapes).map((name) => [name, false] as const));
    const found: Readonly<Record<string, Field | undefined>> = field.record(keys) ?? {};
    const expected = new Map<string, Expected>();
    for (const [name, shape] of Object.entries(shapes)) {
      const entry = found[name];
      const value = entry && this.value(entry, shape, name);
      if (value !== undefined) expected.set(name, value);
    }
    return expected;
  }

  #each(field: Field, { each, of }: Extract<Shape, { readonly each: Shape }>): ExpectedMap {
    const expected = new Map<string, Expected>();
    for (const [name, entry] of field.entries()) {
      if (this.#isKnown(name, of, entry)) {
        const value = this.value(entry, each, name);
        if (value !== undefined) expected.set(name, value);
      }
    }
    return expected;
  }

  #isKnown(
    name: string,
    of: Extract<Shape, { readonly each: Shape }>['of'],
    entry: Field,
  ): boolean {
    switch (of) {
      case 'jobs':
        return entry.isNamed(name, this.#jobs, 'a job that is submitted');
      case 'datacenters':
        return entry.isNamed(name, this.#places.datacenters, 'a datacenter');
      case 'workers':
        return entry.isNamed(name, this.#places.workers, 'a worker');
      case 'workflows':
        return entry.isNamed(name, this.#workflows, 'a workflow of a job that is submitted');
    }
  }
}

/** A number, or two of them that it must be between. */
function readNumber(field: Field, key: string): Expected | undefined {
  const one = (item: Field): number | undefined =>
    key.endsWith('Ms') ? item.duration() : item.whole(COUNTS);
  if (!field.isList) return one(field);
  const [from, to, ...others] = field.items().map(one);
  if (from === undefined || to === undefined) return undefined;
  if (others.length > 0 || from > to)
    return field.wrong('must be a number, or two of them, the smaller one first');
  return { from, to };
}
