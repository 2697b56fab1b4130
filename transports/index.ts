/**
 * `escapement/transports`: how frames reach another node, and what an adapter of one's own has
 * to implement.
 *
 * This is a public entry. Importing it connects nothing.
 */

export type { Transport, TransportListener } from '../runtime/transport.ts';
export {
  type InProcessNetwork,
  type InProcessNetworkOptions,
  inProcessNetwork,
} from './in-process.ts';
