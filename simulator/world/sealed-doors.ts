/**
 * The doors from a process to the world outside: functions of the language and of Node that tell real
 * time, draw real chance, or read and write what is not in memory.
 *
 * Guarantees: each calls a watchman first, who may throw; then it does what it always did. When the
 * doors are opened again every function is the very one it was. Only the functions listed here are
 * doors, and code that has captured one before walks past it.
 */

import childProcess from 'node:child_process';
import crypto from 'node:crypto';
import dgram from 'node:dgram';
import dns from 'node:dns';
import dnsPromises from 'node:dns/promises';
import fs from 'node:fs';
import fsPromises from 'node:fs/promises';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import self from 'node:process';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import tls from 'node:tls';
import workerThreads from 'node:worker_threads';

/** Throws when nobody may pass; `instead` says how to do it right. */
export type Watchman = (what: string, instead: string) => void;

export interface Doors {
  open(): void;
}

interface Door {
  readonly owner: object;
  /** As people know it. */
  readonly title: string;
  readonly names: readonly string[];
  readonly instead: string;
}

const TIME = 'Take the time from the injected Clock.';
const WAIT = 'Schedule through the injected Clock.';
const CHANCE = 'Draw from the injected Random.';
const FILES = 'Read what you need before the run, and keep records in the Store.';
const PEERS = 'Send frames through the injected Transport.';
const THREADS = 'Start it before the run, or after.';
const MACHINE = 'Ask for it before the run: on another machine it would be another one.';

const MEASURES = ['cpuUsage', 'memoryUsage', 'resourceUsage', 'availableMemory'];
const TIMEOUTS = ['setTimeout', 'setInterval', 'setImmediate'];
const RANDOMS = [
  'randomUUID',
  'getRandomValues',
  'randomBytes',
  'pseudoRandomBytes',
  'randomFill',
  'randomFillSync',
  'randomInt',
  'generateKey',
  'generateKeySync',
  'generateKeyPair',
  'generateKeyPairSync',
  'generatePrime',
  'generatePrimeSync',
];

/** Closes all of them. */
export function closeDoors(watch: Watchman): Doors {
  const reopen: Array<() => void> = [];
  for (const { owner, title, names, instead } of doorsOf(globalThis)) {
    for (const name of names) {
      const what = title === '' ? name : `${title}.${name}`;
      const put = (found: object) => watched(found, () => watch(what, instead));
      reopen.push(...replace(owner, name, put));
    }
  }
  reopen.push(
    ...replace(globalThis, 'Date', (real) => watchedDate(real as DateConstructor, watch)),
    ...replaceFormats(watch),
  );
  // Named imports of these modules are copies; this brings them up to date.
  syncBuiltinESMExports();
  return {
    open: () => {
      for (const undo of reopen.reverse()) undo();
      syncBuiltinESMExports();
    },
  };
}

function doorsOf(world: typeof globalThis): readonly Door[] {
  const { Date: date, Math: math, performance: stopwatch } = world;
  return [
    { owner: world, title: '', names: TIMEOUTS, instead: WAIT },
    { owner: world, title: '', names: ['fetch', 'WebSocket', 'EventSource'], instead: PEERS },
    { owner: date, title: 'Date', names: ['now'], instead: TIME },
    { owner: math, title: 'Math', names: ['random'], instead: CHANCE },
    { owner: stopwatch, title: 'performance', names: ['now', 'mark', 'measure'], instead: TIME },
    { owner: world.AbortSignal, title: 'AbortSignal', names: ['timeout'], instead: WAIT },
    { owner: world.Atomics, title: 'Atomics', names: ['wait', 'waitAsync'], instead: WAIT },
    { owner: self, title: 'process', names: ['hrtime', 'uptime'], instead: TIME },
    { owner: self, title: 'process', names: MEASURES, instead: MACHINE },
    { owner: os, title: 'os', names: ['uptime', 'loadavg', 'freemem'], instead: MACHINE },
    { owner: self.hrtime, title: 'hrtime', names: ['bigint'], instead: TIME },
    { owner: crypto.webcrypto, title: 'crypto', names: RANDOMS, instead: CHANCE },
    { owner: crypto, title: 'crypto', names: RANDOMS, instead: CHANCE },
    { owner: crypto.webcrypto.subtle, title: 'subtle', names: ['generateKey'], instead: CHANCE },
    { owner: timers, title: 'timers', names: TIMEOUTS, instead: WAIT },
    { owner: timersPromises, title: 'timers/promises', names: TIMEOUTS, instead: WAIT },
    {
      owner: timersPromises.scheduler,
      title: 'scheduler',
      names: ['wait', 'yield'],
      instead: WAIT,
    },
    { owner: fs, title: 'fs', names: functionsOf(fs), instead: FILES },
    { owner: fsPromises, title: 'fs/promises', names: functionsOf(fsPromises), instead: FILES },
    {
      owner: childProcess,
      title: 'child_process',
      names: functionsOf(childProcess),
      instead: THREADS,
    },
    { owner: workerThreads, title: 'worker_threads', names: ['Worker'], instead: THREADS },
    ...networkDoors(),
  ].map((door) => ({ ...door, owner: door.owner as object }));
}

function networkDoors(): readonly Door[] {
  const instead = PEERS;
  const make = [
    'connect',
    'createConnection',
    'createServer',
    'createSecureServer',
    'createSocket',
  ];
  const ask = ['request', 'get'];
  return [
    { owner: net, title: 'net', names: make, instead },
    { owner: net.Socket.prototype, title: 'net.Socket', names: ['connect'], instead },
    { owner: net.Server.prototype, title: 'net.Server', names: ['listen'], instead },
    { owner: tls, title: 'tls', names: make, instead },
    { owner: http, title: 'http', names: [...make, ...ask], instead },
    { owner: https, title: 'https', names: [...make, ...ask], instead },
    { owner: http2, title: 'http2', names: make, instead },
    { owner: dgram, title: 'dgram', names: make, instead },
    { owner: dns, title: 'dns', names: functionsOf(dns), instead },
    { owner: dnsPromises, title: 'dns/promises', names: functionsOf(dnsPromises), instead },
  ];
}

/** What is written small is a function; classes reach outside through these. */
function functionsOf(owner: object): string[] {
  return Object.keys(owner).filter(
    (name) => /^[a-z]/.test(name) && typeof Reflect.get(owner, name) === 'function',
  );
}

/** Undoes itself; does nothing where there is no such function, or where it is fixed. */
function replace(owner: object, name: string, put: (found: object) => object): Array<() => void> {
  const found: unknown = Reflect.get(owner, name);
  const before = Object.getOwnPropertyDescriptor(owner, name);
  if (typeof found !== 'function' || before?.configurable === false) return [];
  const { enumerable = false } = before ?? {};
  Object.defineProperty(owner, name, {
    value: put(found),
    configurable: true,
    enumerable,
    writable: true,
  });
  if (before === undefined) return [() => Reflect.deleteProperty(owner, name)];
  return [() => Object.defineProperty(owner, name, before)];
}

function watched(found: object, watch: () => void): object {
  return new Proxy(found as (...given: unknown[]) => unknown, {
    apply(target, receiver, given) {
      watch();
      return Reflect.apply(target, receiver, given);
    },
    construct(target, given, made) {
      watch();
      return Reflect.construct(target, given, made) as object;
    },
  });
}

/** A date of a given moment needs no clock. */
function watchedDate(real: DateConstructor, watch: Watchman): DateConstructor {
  return new Proxy(real, {
    apply(target, receiver, given) {
      watch('Date()', TIME);
      return Reflect.apply(target, receiver, given);
    },
    construct(target, given, made) {
      if (given.length === 0) watch('A Date without a moment', TIME);
      return Reflect.construct(target, given, made) as object;
    },
  });
}

type Moment = Parameters<Intl.DateTimeFormat['formatToParts']>[0];

/** A format that is given no moment takes the present one. */
function replaceFormats(watch: Watchman): Array<() => void> {
  const formats = Intl.DateTimeFormat.prototype;
  const getter = Object.getOwnPropertyDescriptor(formats, 'format') as PropertyDescriptor;
  const watchMoment = (moment: unknown): void => {
    if (moment === undefined) watch('A format without a moment', TIME);
  };
  Object.defineProperty(formats, 'format', {
    ...getter,
    get(this: Intl.DateTimeFormat) {
      const format = Reflect.apply(getter.get as () => Intl.DateTimeFormat['format'], this, []);
      return (moment?: Moment) => {
        watchMoment(moment);
        return format(moment);
      };
    },
  });
  const putParts = (found: object): object =>
    new Proxy(found as Intl.DateTimeFormat['formatToParts'], {
      apply(target, receiver, given: [moment?: Moment]) {
        watchMoment(given[0]);
        return Reflect.apply(target, receiver, given);
      },
    });
  return [
    () => Object.defineProperty(formats, 'format', getter),
    ...replace(formats, 'formatToParts', putParts),
  ];
}
