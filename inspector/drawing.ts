/**
 * Door of `drawing/`: charts of machines as SVG, Mermaid and DOT, in Node and in a browser.
 *
 * Nothing here reads a file, a clock or a document. A page imports its parts one by one.
 */

export { dotOf } from './drawing/dot.ts';
export { bundledElk } from './drawing/elk.ts';
export { definitionOf } from './drawing/from-machine.ts';
export { mermaidOf } from './drawing/mermaid.ts';
export { svgOf } from './drawing/svg-file.ts';
