/** The secret that the nodes of a measurement prove to each other; it protects nothing. */

export const SECRET = 'a secret of thirty-two bytes, at least, for the benchmarks';
