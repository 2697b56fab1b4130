/**
 * ELK in Node: the bundled build, in this process. A page runs it in a worker instead.
 */

import type { Elk, ElkNode } from './layout.ts';

export async function bundledElk(): Promise<Elk> {
  const { default: module } = await import('elkjs/lib/elk.bundled.js');
  // CommonJS and its declarations disagree on where the class is.
  const Elk = module as unknown as new () => { layout(graph: ElkNode): Promise<ElkNode> };
  const elk = new Elk();
  return (graph) => elk.layout(graph);
}
