/**
 * Nemeses of single messages: starved of progress, doubled much later, small things that the ports
 * may always do wrong.
 */

import { placeOf } from '../../runtime/base/address.ts';
import { decodeFrame, encodeFrame } from '../../runtime/delivery.ts';
import { datacenterOf } from '../jobs/names.ts';
import type { Chance } from '../world/chance.ts';
import type { InterceptedEvent } from '../world/network/interception.ts';
import type { NemesisKind } from './nemesis-kind.ts';
import type { Strike } from './strike.ts';
import {
  allWorkers,
  askForTime,
  few,
  hasGate,
  hasWorker,
  isJobs,
  jobsOf,
  membersOf,
  othersThan,
  placesOf,
} from './targets.ts';

/** Loses messages of the cluster that are meant, by type and as `where` has it. */
function lose(strike: Strike, types: readonly string[], where: () => boolean = () => true): void {
  const nodes = strike.world.nodes().map(({ node }) => node);
  strike.keep(
    strike.world.network.intercept({
      between: [nodes, nodes],
      where: (event: InterceptedEvent) => types.includes(event.type) && where(),
      action: 'drop',
    }),
  );
}

export const progressStarvation: NemesisKind = {
  kind: 'progressStarvation',
  says: 'Heartbeats get through, and no report of progress does.',
  fits: hasWorker,
  draw: (chance) => ({ targets: [], params: { atGate: chance.is(0.3) } }),
  begin: (strike) =>
    lose(strike, strike.is('atGate') ? ['progress.reported'] : ['progress.received']),
};

/** A worker that hears no acknowledgement registers again, which is a sign of life as well. */
const SIGNS_OF_LIFE: readonly string[] = ['heartbeat.received', 'worker.registered'];

export const starvedHeartbeats: NemesisKind = {
  kind: 'starvedHeartbeats',
  says: 'Heartbeats of some workers are lost for longer than they are trusted, and their requests for more time get through.',
  fits: (cluster) => isJobs(cluster) && hasWorker(cluster),
  isPatient: true,
  draw: (chance, cluster) => {
    const { baseDeadlineMs, suspectGraceMs, heartbeatIntervalMs } = jobsOf(cluster).config;
    const graceMs = chance.is(0.7) ? chance.whole(0, suspectGraceMs) : suspectGraceMs + 5_000;
    return {
      targets: few(chance, allWorkers(cluster)),
      params: { everyMs: Math.round(chance.scaled(500, Math.max(501, baseDeadlineMs / 4))) },
      durMs: Math.min(1_200_000, baseDeadlineMs + graceMs + heartbeatIntervalMs),
    };
  },
  begin: (strike) => {
    const { nemesis, world } = strike;
    const { targets } = nemesis;
    strike.keep(
      world.network.intercept({
        between: [targets, othersThan(targets, strike)],
        where: ({ type }: InterceptedEvent) => SIGNS_OF_LIFE.includes(type),
        action: 'drop',
      }),
    );
    // Were they to ask before, what they are granted would keep them trusted.
    const { baseDeadlineMs } = strike.system.config;
    strike.after(baseDeadlineMs, () => askForTime(strike, targets, strike.number('everyMs')));
    // What runs there may be over soon: one that is not has something to ask for.
    for (const worker of targets) submitRun(strike, datacenterOf(worker) ?? '');
  },
};

/** A job that goes on for longer than the strike. */
function submitRun(strike: Strike, datacenter: string): void {
  const { clients } = strike.jobs;
  const job = {
    jobId: `${strike.nemesis.id}-${datacenter}`,
    to: datacenter,
    timeoutMs: 2 * strike.lastsMs + 60_000,
    workflows: [{ id: 'w1', runsMs: 2 * strike.lastsMs }],
  };
  strike.world.pace.watch(() => clients.submit(job));
}

/** Messages of which an old copy could do harm. */
const DECISIVE = [
  'timeout.declared',
  'timeout.reported',
  'final.reported',
  'cancel.requested',
  'ack.received',
  'leader.transferred',
  'status.corrected',
  'extension.requested',
  'result.received',
  'attempt.stopped',
  'dispatch.requested',
];
const MOMENTS = ['failover', 'terminal', 'gateRestart'] as const;
/** Copies that are kept of each message. */
const KEPT_MAX = 3;

export const delayedDuplicate: NemesisKind = {
  kind: 'delayedDuplicate',
  says: 'Copies of what was sent before come again after a failover, an end, or a start.',
  draw: (chance, cluster) => ({
    targets: [],
    params: {
      after: chance.pick(hasGate(cluster) ? MOMENTS : ['failover', 'terminal']),
      delayMs: Math.round(chance.scaled(1, 30_000)),
    },
  }),
  begin: (strike) => {
    const { scene } = strike;
    const decisive = 'shape' in scene ? scene.shape.messages : DECISIVE;
    const copies = new Map<string, string[]>();
    strike.hear('frame', ({ change, frame }) => {
      if (change !== 'sent') return;
      const type = decisive.find((one) => frame.includes(`"type":"${one}"`));
      if (type === undefined) return;
      const kept = [...(copies.get(type) ?? []), frame];
      copies.set(type, kept.slice(-KEPT_MAX));
    });
    const repeat = (): void => {
      const frames = [...copies.values()].flat();
      strike.after(strike.number('delayMs'), () => {
        for (const frame of frames) sendAgain(strike, frame);
      });
    };
    repeatAfter(strike, repeat);
  },
};

function repeatAfter(strike: Strike, repeat: () => void): void {
  switch (strike.word('after')) {
    case 'failover':
      strike.hear('lease', ({ change }) => {
        if (change === 'acquired') repeat();
      });
      return;
    case 'terminal':
      strike.hear('actor', ({ kind, change }) => {
        const isMeant = 'shape' in strike.scene || kind === 'job' || kind === 'gate-job';
        if (isMeant && change === 'done') repeat();
      });
      return;
    case 'gateRestart':
      strike.hear('node', ({ node, change }) => {
        if (change === 'started' && strike.system.gates.includes(node)) repeat();
      });
  }
}

/**
 * From the host of its sender now to the host of its receiver. The sender has no part in it: it
 * may have lost its disk, and know nothing of what it sent before.
 */
function sendAgain(strike: Strike, frame: string): void {
  for (const envelope of decodeFrame(frame).envelopes) {
    const { from, to } = envelope as { readonly from: unknown; readonly to: unknown };
    if (typeof from !== 'string' || typeof to !== 'string') continue;
    const sender = strike.world.hostOf(placeOf(from));
    const receiver = strike.world.hostOf(placeOf(to));
    if (sender === undefined || receiver === undefined || sender === receiver) continue;
    const copy = encodeFrame([JSON.stringify(envelope)], []);
    if (strike.world.network.repeat(sender.node, receiver.node, copy)) strike.hit({ from, to });
  }
}

/** Messages that answer another one, and what may always be lost. */
const ACKNOWLEDGEMENTS = [
  'ack.received',
  'dispatch.answered',
  'credit.answered',
  'heartbeat.acked',
];
const HINTS = [
  'progress.received',
  'progress.reported',
  'heartbeat.received',
  'dispatch.requested',
];

/** How often an armed site fires. */
const FIRES = 0.25;

interface Site {
  readonly name: string;
  readonly arm: (strike: Strike) => void;
}

const SITES: readonly Site[] = [
  {
    name: 'frameTwice',
    arm: (strike) => {
      const nodes = strike.world.nodes().map(({ node }) => node);
      const noise = { duplicate: { share: FIRES, withinMs: 50 } };
      const id = `${strike.nemesis.id}/frameTwice`;
      strike.keep(strike.world.network.disturb({ id, from: nodes, to: nodes, noise }));
    },
  },
  {
    name: 'acknowledgementDropped',
    arm: (strike) => lose(strike, ACKNOWLEDGEMENTS, () => strike.chance.is(FIRES)),
  },
  { name: 'hintDropped', arm: (strike) => lose(strike, HINTS, () => strike.chance.is(FIRES)) },
  {
    name: 'commitRefused',
    arm: (strike) => {
      for (const place of placesOf(strike.scene)) {
        const rule = { id: strike.nemesis.id, share: FIRES, reason: 'EIO' };
        strike.keep(strike.world.diskOf(place).refuse(rule));
      }
    },
  },
  {
    name: 'commitDelayed',
    arm: (strike) => {
      for (const place of placesOf(strike.scene)) {
        // Three in four stay short.
        strike.world.diskOf(place).takes({ shape: 'pareto', minMs: 2, tail: 0.8, maxMs: 1_000 });
        strike.whenOver(() => strike.world.healDisk(place));
      }
      const stop = strike.world.readGroups((node) => strike.hit({ node }));
      strike.whenOver(stop);
    },
  },
  {
    name: 'timerLate',
    arm: (strike) => {
      for (const name of membersOf(strike)) {
        const node = strike.world.node(name);
        if (!node.isUp || !strike.chance.is(FIRES)) continue;
        node.slow(2 + strike.chance.whole(0, 8), strike.lastsMs);
        strike.hit({ slow: node.node });
      }
    },
  },
];

export const buggify: NemesisKind = {
  kind: 'buggify',
  says: 'What ports may do wrong at any time they do often: a frame twice, an answer lost, a commit refused.',
  draw: (chance) => ({ targets: [], params: armed(chance) }),
  begin: (strike) => {
    for (const { name, arm } of SITES) if (strike.is(name)) arm(strike);
  },
};

/** Each site as often as it fires, and one at least. */
function armed(chance: Chance): Record<string, boolean> {
  const sure = chance.pick(SITES).name;
  return Object.fromEntries(SITES.map(({ name }) => [name, chance.is(FIRES) || name === sure]));
}
