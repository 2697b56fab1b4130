/**
 * Door of `world/`: nodes, network, disks and clocks of a pretend world.
 */

export { Chance } from './world/chance.ts';
export { commitDelayOf, commitMsOf, withoutFaults } from './world/commit-pace.ts';
export type { Delay } from './world/delay.ts';
export type { GroupEnd } from './world/disk/disk.ts';
export type { InterceptedEvent } from './world/network/interception.ts';
export type { NetworkFault } from './world/network/network.ts';
export type { Noise } from './world/network/noise.ts';
export {
  bridge,
  halves,
  isolated,
  type Parting,
  ring,
  shattered,
} from './world/network/partition-shapes.ts';
export { WorldNode } from './world/node.ts';
export { SeededRandom } from './world/random.ts';
export { type Outside, sealed } from './world/sealed.ts';
export { type DiskRules, type Fault, World } from './world/world.ts';
