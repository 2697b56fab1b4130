/**
 * Start options of Node for a busy node, as docs/nodes.md recommends them: young objects have room until
 * what is under way has been answered, so that few of them are moved among the old ones.
 *
 * Contenders are started the way that is better for them.
 */
export const BUSY_NODE: readonly string[] = ['--max-semi-space-size=64'];
