/** Counters of the transport, for exporters of metrics. Numbers only rise. */

export interface Counters {
  linksOpened: number;
  linksClosed: number;
  framesSent: number;
  framesReceived: number;
  bytesSent: number;
  bytesReceived: number;
  /** Frames that were not sent because a buffer was full. */
  framesOverflowed: number;
  badFrames: number;
  /** Connections that were ended because the peer broke a rule. */
  linksExpelled: number;
  /** Connections that were ended because the peer did not take what was sent. */
  linksTooSlow: number;
  /** Connections that were ended because the peer gave no sign of life. */
  linksSilent: number;
  dialsFailed: number;
  handshakesRefused: number;
  /** Callers that could not be taken in, for want of a descriptor. */
  acceptsFailed: number;
  /** Callers that were cut off unheard, because they said nothing in time or made room for others. */
  callersCutOff: number;
  /** Errors of TLS or HTTP before a handshake could be read. */
  callersGarbled: number;
}

export function newCounters(): Counters {
  return {
    linksOpened: 0,
    linksClosed: 0,
    framesSent: 0,
    framesReceived: 0,
    bytesSent: 0,
    bytesReceived: 0,
    framesOverflowed: 0,
    badFrames: 0,
    linksExpelled: 0,
    linksTooSlow: 0,
    linksSilent: 0,
    dialsFailed: 0,
    handshakesRefused: 0,
    acceptsFailed: 0,
    callersCutOff: 0,
    callersGarbled: 0,
  };
}
