/** Nodes of a simulated network that write down what they are told, and when. */

import { SimulatedClock } from '../../simulator/world/clock.ts';
import { simulatedNetwork } from '../../simulator/world/network/network.ts';
import { SeededRandom } from '../../simulator/world/random.ts';

/** Times count from the moment when all of them were started. `isDrawn`: chance orders what happens at one moment. */
export async function startNodes(
  names: readonly string[],
  delayMs: number | [number, number] = 50,
  isDrawn = false,
) {
  const clock = new SimulatedClock(isDrawn ? { tiebreak: new SeededRandom(7, 'tiebreak') } : {});
  let startedAt = clock.now();
  const log: string[] = [];
  /** The outcome of frames: `sent a>b one`. */
  const fates: string[] = [];
  const noises: string[] = [];
  const network = simulatedNetwork({
    clock,
    random: new SeededRandom(7),
    delayMs,
    onFrame: (from, to, change, frame) => fates.push(`${change} ${from}>${to} ${frame}`),
    onNoise: (id, from, to) => noises.push(`${id} ${from}>${to}`),
  });
  const join = async (node: string) => {
    const transport = network.join(node);
    const note = (what: string) => log.push(`${clock.now() - startedAt} ${node}: ${what}`);
    await transport.start({
      peerUp: (peer) => note(`up ${peer}`),
      peerDown: (peer) => note(`down ${peer}`),
      frameReceived: (peer, frame) => note(`${frame} of ${peer}`),
    });
    return transport;
  };
  const nodes = await Promise.all(names.map(join));
  clock.advanceBy(100);
  startedAt = clock.now();
  const upon = log.splice(0);
  return { clock, network, log, fates, noises, nodes, upon, join };
}
