/**
 * Reader of frames for what has to arrive: messages that have an identity, and the receipts for them.
 *
 * Guarantees: a frame is opened once, however many invariants look at it, and not at all when it
 * carries hints and greetings only. It reads what was sent, so what damage makes of a frame on its
 * way is not its business.
 */

import type { Receipt } from '../../runtime/delivery.ts';
import { decodeFrame } from '../../runtime/delivery.ts';

/** A message as it travels; `from` and `counter` are its identity. */
export interface SentEnvelope {
  readonly to: string;
  readonly from: string;
  readonly counter: number;
  /** Counter of the message of this sender that its receiver must have before; 0 for none. */
  readonly after: number;
  /** What a peer made up may have none. */
  readonly event?: { readonly type: string; readonly replyTo?: unknown };
}

export interface OpenedFrame {
  readonly envelopes: readonly SentEnvelope[];
  readonly receipts: readonly Receipt[];
}

const NOTHING: OpenedFrame = { envelopes: [], receipts: [] };

/** A hint has counter 0, a receipt never has, and hints share no entry. */
const IDENTITY = /"counter(?:":|s":\[)[1-9]/;

let lastFrame = '';
let lastOpened = NOTHING;

/** Opens a frame that a node has sent. */
export function openFrame(frame: string): OpenedFrame {
  if (frame === lastFrame) return lastOpened;
  lastFrame = frame;
  lastOpened = IDENTITY.test(frame) ? opened(frame) : NOTHING;
  return lastOpened;
}

function opened(frame: string): OpenedFrame {
  try {
    const { envelopes, receipts } = decodeFrame(frame);
    return {
      envelopes: (envelopes as SentEnvelope[]).filter(({ counter }) => counter > 0),
      receipts: receipts as Receipt[],
    };
  } catch {
    // Something that the other side made up: nobody can say whose it is.
    return NOTHING;
  }
}

/** The code of the error in a receipt; undefined when the message was taken. */
export function refusalOf({ error }: Receipt): string | undefined {
  return error === undefined ? undefined : String((error as { code?: unknown } | null)?.code);
}
