/**
 * Names and credentials of the peers that may come to the node that is fuzzed. The secret and the token
 * protect nothing.
 */

export const SECRET = 'a secret of thirty-two bytes, at least, for the fuzzer';
export const TOKEN = 'the-token-of-the-fuzzer';
/** Clients are called by the name of their token and a part of their own. */
export const CLIENT = 'fuzzer';

/** Who sets up what the fuzzer must not change. */
export const OPERATOR = { name: 'operator', token: 'the-token-of-the-operator' } as const;

/** Names that the node expects somebody under, and that nobody but the fuzzer has. */
export const OPEN = {
  gates: Array.from({ length: 16 }, (_, number) => `gate-${number}`),
  datacenters: Array.from({ length: 16 }, (_, number) => `B${number}`),
} as const;
