/** Plants of believed claims: what a peer says of itself, of others, or of numbers that are raised. */

import type { Plant } from './plant.ts';

const FENCES = 'test/delivery/fence-claims.test.ts';
const ROLES = 'test/transports/roles.test.ts';
const TOLD = 'test/jobs/bad-input/claims.test.ts';

export const claimPlants: readonly Plant[] = [
  {
    id: 'P140',
    area: 'fence',
    says: 'Anybody is believed who says that a greater fence of a place is known.',
    edits: [
      {
        file: 'runtime/delivery/peer-authority.ts',
        find: 'if (place !== known.place || !isHostOf(peer, place))',
        replace: 'if (place !== known.place)',
      },
    ],
    suite: FENCES,
  },
  {
    id: 'P141',
    area: 'fence',
    says: 'A manager may claim any fence of its place.',
    edits: [
      {
        file: 'runtime/delivery/peer-authority.ts',
        find: 'if (isFence(fence) && fence <= highest) return;',
        replace: 'if (isFence(fence) || fence > highest) return;',
      },
    ],
    suite: FENCES,
  },
  {
    id: 'P142',
    area: 'fence',
    says: 'Of what a certificate says only the role and the name are looked at: a manager of one datacenter is let in as one of another.',
    edits: [
      {
        file: 'transports/websocket/certificate.ts',
        find: 'if (said.length > 0) return said.includes(',
        replace:
          "if (said.length > 0) return said.map((one) => one.replace(/\\/.*\\//, '/' + place + '/')).includes(",
      },
    ],
    suite: ROLES,
  },
  {
    id: 'P143',
    area: 'fence',
    says: 'A start of a node far ahead of the clock is believed, and every true one is older than it.',
    edits: [
      {
        file: 'transports/websocket/links.ts',
        find: 'return aheadMs > bootAheadMaxMs',
        replace: 'return aheadMs > bootAheadMaxMs + Number.MAX_SAFE_INTEGER',
      },
    ],
    suite: ROLES,
  },
  {
    id: 'P145',
    area: 'gate',
    says: 'A gate may cancel the jobs of another one.',
    edits: [
      {
        file: 'programs/jobs/manager/admission.ts',
        find: "if (job.gateId !== placeOf(message.from ?? '')) return 'it is not a job of that gate';",
        replace: '',
      },
    ],
    suite: TOLD,
  },
  {
    id: 'P146',
    area: 'fence',
    says: 'A term, a fence or an epoch that a peer tells of is gone above however great it is.',
    edits: [
      {
        file: 'programs/jobs/claims.ts',
        find: 'if (told <= runtime.fence + config.fenceStepMax || told <= known()) return undefined;',
        replace:
          'if (told <= runtime.fence + config.fenceStepMax || known() >= 0) return undefined;',
      },
    ],
    suite: TOLD,
  },
  {
    id: 'P290',
    area: 'runtime',
    says: 'A peer that speaks under many names of its own place fills an inbox, and everybody else is refused.',
    edits: [
      {
        file: 'runtime/actor/inbox.ts',
        find: 'if (this.#shares.countOf(owner) < SHARE.value * free) return true;',
        replace:
          'if (this.#shares.countOf(owner) < SHARE.value * this.#watermarks.size) return free > 0;',
      },
    ],
    suite: 'test/delivery/inbox-shares.test.ts',
  },
  {
    id: 'P291',
    area: 'runtime',
    says: 'A session gives way to another one of its place while it is still heard: what it sends again is taken twice.',
    edits: [
      {
        file: 'runtime/actor/inbox.ts',
        find: 'if (watermark === undefined || watermark.at > at - SESSION_SILENT_MS.value) return false;',
        replace: 'if (watermark === undefined) return false;',
      },
    ],
    suite: 'test/delivery/inbox-shares.test.ts',
  },
  {
    id: 'P292',
    area: 'runtime',
    says: 'All frames that a socket gives at once are read in one go: timers and other peers wait until the last.',
    edits: [
      {
        file: 'transports/websocket/link.ts',
        find: 'if (this.#isPaused && this.#isOpen) this.#waiting.push(take);',
        replace: 'if (this.#isPaused && !this.#isOpen) this.#waiting.push(take);',
      },
    ],
    suite: 'test/transports/slices.test.ts',
  },
];
