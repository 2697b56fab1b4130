/** Answers of a node, and stored data, in which every text wants to speak to a terminal. */

import type { StoredData } from '../../cli/loaders/stored-data.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';

/** Clears the screen, sets the title, begins a colour, moves up, answers, turns text around, deletes. */
export const EVIL =
  '\u001b[2J\u001b]0;owned\u0007\u001b[31m\u001b[5A\u009b6n\r\u202e\u200b\u007f\b\nnext';
export const STORED = {
  info: () => ({
    format: 1,
    createdAt: 0,
    fences: { [EVIL]: 3 },
    records: [{ kind: EVIL, status: EVIL, count: 2 }],
    historyRows: 9,
    undelivered: 1,
    fileBytes: 3,
    freePages: 4,
    owner: { pid: 42, node: EVIL },
  }),
  *actors() {
    yield {
      address: `order/${EVIL}@x`,
      entry: { kind: 'order', status: 'active' },
      record: () => EVIL,
      rows: () => [[EVIL, EVIL, JSON.stringify(EVIL)]],
    };
  },
  history: () => [EVIL],
  undelivered: () => [[EVIL, JSON.stringify({ to: EVIL, event: { type: EVIL } })]],
  verify: () => ({ records: 1, problems: [{ address: EVIL, what: EVIL, error: EVIL }] }),
  compact: async () => {
    throw new RuntimeError('STORE_DAMAGED', EVIL);
  },
  close: async () => {},
} as unknown as StoredData;

export const VIEW = {
  jobId: EVIL,
  status: EVIL,
  reason: EVIL,
  localReason: EVIL,
  gateReason: EVIL,
  authority: EVIL,
  enforce: true,
  elapsedMs: 1,
  timeoutMs: 2,
  extensionsMs: 0,
  dueInMs: 1,
  sinceProgressMs: 1,
  queued: true,
  leader: EVIL,
  leaderFence: 1,
  shadow: { reason: EVIL, atMs: 1 },
  seq: 1,
  // Numbers are what a node says they are.
  workflowsTotal: EVIL,
  workflowsCompleted: EVIL,
  workflowsFailed: EVIL,
  workflows: [
    {
      workflowId: EVIL,
      status: EVIL,
      attempts: EVIL,
      workerId: EVIL,
      result: EVIL,
      truncated: true,
      error: { code: EVIL, detail: EVIL },
    },
  ],
  page: 1,
  pages: 1,
  datacenters: [
    {
      datacenter: EVIL,
      status: EVIL,
      reason: EVIL,
      leaderFence: 1,
      extensionsMs: 0,
      sinceProgressMs: 1,
    },
  ],
};

export const ended = {
  ...VIEW,
  status: 'completed',
  workflowsTotal: 1,
  workflowsCompleted: 1,
  workflowsFailed: 0,
};

export const ANSWERS: ReadonlyArray<readonly [path: RegExp, body: object]> = [
  [
    /\/history/,
    {
      address: EVIL,
      history: [
        { at: 1, event: { type: EVIL, [EVIL]: EVIL }, from: EVIL, state: EVIL, error: EVIL },
      ],
    },
  ],
  [
    /^\/readyz/,
    {
      status: EVIL,
      hosting: true,
      reason: EVIL,
      latenessMs: EVIL,
      backlog: { workflows: EVIL, clients: EVIL, waitMs: EVIL, isShedding: true },
      certificate: { expiresAt: EVIL, daysLeft: EVIL },
    },
  ],
  [/^\/v1\/explain\//, { address: EVIL, explanation: `${EVIL}\n${EVIL}` }],
  [/^\/v1\/(?:actors|revive|end|forget)\//, { address: EVIL, accepted: true }],
  [
    /^\/v1\/actors/,
    {
      address: EVIL,
      actors: [
        {
          ...{ address: EVIL, kind: EVIL, status: EVIL, state: EVIL, tags: [EVIL] },
          ...{ dueAt: EVIL, turnAt: EVIL },
        },
      ],
      cursor: null,
    },
  ],
  [
    /^\/v1\/waiting/,
    { waiting: [{ place: EVIL, node: EVIL, messages: EVIL, receivers: EVIL, attempts: EVIL }] },
  ],
  [
    /\/(?:cancel|extend)/,
    {
      accepted: true,
      reason: EVIL,
      extensionsMs: 1,
      datacenters: [{ datacenter: EVIL, accepted: false, reason: EVIL, extensionsMs: 0 }],
    },
  ],
  [/^\/v1\/jobs\/[^/?]+/, VIEW],
  [
    /^\/v1\/jobs/,
    {
      jobs: [VIEW],
      cursor: null,
      jobId: EVIL,
      accepted: true,
      created: true,
      status: EVIL,
      reason: null,
    },
  ],
  [
    /^\/v1\/workers/,
    {
      workers: [
        {
          workerId: EVIL,
          datacenter: EVIL,
          state: EVIL,
          heard: true,
          cores: EVIL,
          freeCores: 1,
          attempts: 1,
          handlers: 1,
          deadlineInMs: 1,
        },
      ],
      unanswered: [EVIL],
    },
  ],
  [
    /^\/v1\/timers/,
    { timers: [{ address: EVIL, kind: EVIL, state: EVIL, dueAt: 1, dueInMs: 1 }], cursor: null },
  ],
  [
    /^\/v1\/undelivered\/./,
    {
      id: EVIL,
      at: 1,
      to: EVIL,
      from: EVIL,
      event: { type: EVIL, [EVIL]: EVIL },
      error: EVIL,
      delivered: true,
      dropped: true,
    },
  ],
  [
    /^\/v1\/undelivered/,
    {
      undelivered: [{ id: EVIL, at: 1, to: EVIL, from: EVIL, type: EVIL, error: EVIL }],
      cursor: null,
    },
  ],
];
