/**
 * Definitions of kinds, asked for once each, and their layouts, kept by the hash of the definition.
 */

import { type Elk, type ElkNode, layOut } from '../../drawing/layout.ts';
import { nest } from '../../drawing/nested.ts';
import type { ChartLayout } from '../../drawing/places.ts';
import { sketchOf } from '../../drawing/sketch.ts';
import type { Font, Measure } from '../../drawing/text.ts';
import type { ChartDefinition, KindDefinition } from '../../protocol.ts';
import { ask } from './api.ts';

const definitions = new Map<string, Promise<KindDefinition>>();
const layouts = new Map<string, Promise<ChartLayout>>();

/** By its hash; without one, of the kind's newest version. */
export function definitionOf(kind: string, hash?: string): Promise<KindDefinition> {
  const key = `${kind} ${hash ?? ''}`;
  const known = definitions.get(key);
  if (known !== undefined) return known;
  const asked = ask<KindDefinition>('definition', { kind, hash });
  definitions.set(key, asked);
  asked.catch(() => definitions.delete(key));
  return asked;
}

/** `aspect` is the shape of the panel, in steps, so that a few pixels do not begin it all again. */
export function layoutOf(
  chart: ChartDefinition,
  collapsed: ReadonlySet<string>,
  aspect: number,
): Promise<ChartLayout> {
  const shape = Math.max(0.5, Math.min(3, Math.round(aspect * 2) / 2));
  const key = `${chart.hash} ${shape} ${[...collapsed].sort().join(' ')}`;
  const known = layouts.get(key);
  if (known !== undefined) return known;
  const made = layOut(sketch(chart, collapsed), workerElk, shape);
  if (layouts.size > LAYOUTS_MAX) layouts.clear();
  layouts.set(key, made);
  return made;
}
const LAYOUTS_MAX = 60;

/** Boxes at once, for as long as the better layout takes. */
export function boxesOf(chart: ChartDefinition, collapsed: ReadonlySet<string>): ChartLayout {
  return nest(sketch(chart, collapsed));
}

const sketch = (chart: ChartDefinition, collapsed: ReadonlySet<string>) =>
  sketchOf(chart, { measure: measureText, collapsed, hasCountdowns: true });

const FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const FONTS: Readonly<Record<Font, string>> = {
  title: `600 13px ${FAMILY}`,
  label: `11px ${FAMILY}`,
};
let canvas: CanvasRenderingContext2D | null | undefined;

export const measureText: Measure = (text, font) => {
  canvas ??= document.createElement('canvas').getContext('2d');
  if (!canvas) return text.length * 8;
  canvas.font = FONTS[font];
  return canvas.measureText(text).width;
};

interface Answer {
  readonly id: number;
  readonly data?: ElkNode;
  readonly error?: { readonly message?: string };
}
let worker: Promise<Worker> | undefined;
let nextId = 1;
const waiting = new Map<number, (answer: Answer) => void>();

/** A file of its own beside the page; in a single file it is packed in an element. */
async function workerUrl(): Promise<string> {
  const packed = document.getElementById('elk-worker')?.textContent;
  if (!packed) return 'assets/elk-worker.min.js';
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const code = await new Response(unpacked).blob();
  return URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
}

/** ELK's worker as its authors publish it; loaded with the first chart. */
const workerElk: Elk = async (graph) => {
  worker ??= startWorker();
  const started = await worker;
  return new Promise((resolve, reject) => {
    const id = nextId;
    nextId += 1;
    waiting.set(id, ({ data, error }) =>
      data === undefined ? reject(new Error(error?.message ?? 'No layout.')) : resolve(data),
    );
    started.postMessage({ id, cmd: 'layout', graph, layoutOptions: {}, options: {} });
  });
};

async function startWorker(): Promise<Worker> {
  const started = new Worker(await workerUrl());
  const settle = (answer: Answer): void => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  };
  started.onmessage = ({ data }: MessageEvent<Answer>) => settle(data);
  started.onerror = () => {
    for (const id of [...waiting.keys()]) settle({ id, error: { message: 'ELK did not load.' } });
  };
  started.postMessage({ id: 0, cmd: 'register', algorithms: ['layered'] });
  return started;
}
