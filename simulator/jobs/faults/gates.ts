/**
 * Nemeses of gates: away for just as long as anybody waits for them, cut off in the moment of a
 * decision, back without their data, or with another configuration.
 */

import { JOBS_OPTIONS } from '../../../programs/jobs/configuration/options.ts';
import {
  electedPlaces,
  few,
  HOWS,
  type How,
  type NemesisKind,
  nodesMeant,
  part,
} from '../../faults.ts';
import type { JobsScene, JobsStrike } from '../scene.ts';
import { allGates, allManagers, hasGate } from '../shape.ts';

export const gateOutage: NemesisKind<JobsScene> = {
  kind: 'gateOutage',
  says: 'A gate is away for just shorter or just longer than a datacenter waits for it, or for hours.',
  fits: hasGate,
  draw: (chance, cluster) => {
    const { gateFallbackMs } = cluster.config;
    const outageMs = chance.pick([gateFallbackMs - 1_000, gateFallbackMs, gateFallbackMs + 1_000]);
    const isAtReport = chance.is(0.5);
    return {
      targets: [chance.pick(allGates(cluster))],
      params: {
        outageMs: chance.is(0.1) ? 7_200_000 : Math.max(1, outageMs),
        isAtReport,
        how: chance.pick(['crash', 'cut', 'silent']),
      },
      durMs: (isAtReport ? 2 : 1) * outageMs + 1,
    };
  },
  begin: (strike) => {
    const begin = once(() => takeAway(strike));
    if (!strike.is('isAtReport')) begin();
    else
      strike.hear('sent', ({ event }) => {
        if (event.type === 'timeout.reported') strike.soon(begin);
      });
  },
};

function takeAway(strike: JobsStrike): void {
  const [gate = ''] = strike.nemesis.targets;
  const outageMs = strike.number('outageMs');
  if (strike.word('how') === 'crash') {
    if (strike.crash(gate)) strike.after(outageMs, () => strike.restart(gate));
    return;
  }
  const others = strike.world.nodes().filter(({ node }) => node !== gate);
  const partings = [[[gate], others.map(({ node }) => node)]] as const;
  const parted = part(strike, partings, strike.word('how') as 'silent' | 'cut');
  strike.after(outageMs, () => parted.end());
}

export const partDatacenters: NemesisKind<JobsScene> = {
  kind: 'partDatacenters',
  says: 'The gate does not reach some of the datacenters, which work on.',
  fits: hasGate,
  draw: (chance, cluster) => ({
    targets: few(chance, electedPlaces(cluster)),
    params: { how: chance.pick([...HOWS, 'half']) },
  }),
  begin: (strike) => {
    part(strike, [[strike.scene.system.gates, nodesMeant(strike)]], strike.word('how') as How);
  },
};

export const isolateGateAtDeclaration: NemesisKind<JobsScene> = {
  kind: 'isolateGateAtDeclaration',
  says: 'A gate is disconnected from some datacenters in the moment in which it declares a timeout.',
  awaitsMoment: true,
  fits: hasGate,
  draw: (chance, cluster) => ({
    targets: few(chance, electedPlaces(cluster)),
    params: { forMs: Math.round(chance.scaled(10, 600_000)), how: chance.pick(['cut', 'silent']) },
  }),
  begin: (strike) => {
    const { forMs, how } = strike.nemesis.params;
    const isolate = once((gate: string) => {
      const partings = [[[gate], nodesMeant(strike)]] as const;
      const parted = part(strike, partings, how as 'cut' | 'silent');
      strike.after(Number(forMs), () => parted.end());
    });
    strike.hear('sent', ({ node, event }) => {
      if (event.type === 'timeout.declared') strike.soon(() => isolate(node));
    });
  },
};

export const forgetfulGate: NemesisKind<JobsScene> = {
  kind: 'forgetfulGate',
  says: 'A gate dies and comes back with an empty disk: its datacenters tell it what it knew.',
  fits: hasGate,
  draw: (chance, cluster) => ({
    targets: [chance.pick(allGates(cluster))],
    params: { downMs: Math.round(chance.scaled(1, 60_000)) },
  }),
  begin: (strike) => {
    const [gate = ''] = strike.nemesis.targets;
    if (!strike.crash(gate)) return;
    strike.world.forget(gate);
    strike.after(strike.number('downMs'), () => strike.restart(gate));
  },
};

/** Options that no record keeps and no bound of an invariant is made of. */
const RELOADED = ['dispatchAckTimeoutMs', 'dispatchBackoffMinMs', 'leaseJitterMs'] as const;

export const configReload: NemesisKind<JobsScene> = {
  kind: 'configReload',
  says: 'A gate or manager is started again with another configuration, in the middle of a decision.',
  draw: (chance, cluster) => {
    const option = chance.pick(RELOADED);
    const { min } = JOBS_OPTIONS[option];
    return {
      targets: [chance.pick([...allGates(cluster), ...allManagers(cluster)])],
      params: {
        option,
        value: Math.max(min, Math.round(cluster.config[option] * chance.scaled(0.1, 1))),
        isAtDecision: chance.is(0.7),
      },
    };
  },
  begin: (strike) => {
    const [name = ''] = strike.nemesis.targets;
    const reload = once(() => {
      strike.scene.system.configure(name, { [strike.word('option')]: strike.number('value') });
      strike.whenOver(() => strike.scene.system.configure(name, {}));
      if (strike.crash(name)) strike.after(1, () => strike.restart(name));
    });
    if (!strike.is('isAtDecision')) reload();
    else
      strike.hear('sent', ({ event }) => {
        if (event.type.startsWith('timeout.')) strike.soon(reload);
      });
  },
};

/** Does it the first time only. */
function once<TArguments extends unknown[]>(
  action: (...given: TArguments) => void,
): (...given: TArguments) => void {
  let isDone = false;
  return (...given) => {
    if (isDone) return;
    isDone = true;
    action(...given);
  };
}
