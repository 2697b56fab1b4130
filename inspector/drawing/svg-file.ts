/**
 * SVG file of a chart, complete in itself: it brings its style, and follows the reader's light or dark.
 */

import type { ChartDefinition } from '../protocol.ts';
import { FILE_STYLE } from './chart-style.ts';
import { type Elk, layOut } from './layout.ts';
import { markupOf, pictureOf } from './picture.ts';
import { sketchOf } from './sketch.ts';
import { measureWide } from './text.ts';

export async function svgOf(definition: ChartDefinition, elk: Elk): Promise<string> {
  const layout = await layOut(sketchOf(definition, { measure: measureWide }), elk);
  const picture = pictureOf(layout, measureWide);
  const style = { tag: 'style', attributes: {}, text: FILE_STYLE };
  return `${markupOf({ ...picture, children: [style, ...(picture.children ?? [])] })}\n`;
}
