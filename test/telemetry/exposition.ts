/**
 * Reads Prometheus text, version 0.0.4, and refuses whatever the format does not allow.
 *
 * Stricter than scrapers are: every name is explained before its samples, once, and its
 * samples stand together. Written from the format's description, not from our writer.
 */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,|$)/y;
const TYPES = new Set(['counter', 'gauge', 'histogram', 'summary', 'untyped']);

export function parseExposition(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith('\n')) throw new Error('The last line has no end.');
  const families = new Map<string, Family>();
  let help: { name: string; text: string } | undefined;
  let family: Family | undefined;
  for (const line of text.slice(0, -1).split('\n')) {
    if (line.startsWith('# HELP ')) {
      const [, name = '', what = ''] = /^# HELP (\S+) (.+)$/.exec(line) ?? refuse(line);
      help = { name, text: unescaped(what, /\\(\\|n)/g) };
    } else if (line.startsWith('# TYPE ')) {
      const [, name = '', type = ''] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? refuse(line);
      if (!(NAME.test(name) && TYPES.has(type)) || help?.name !== name) refuse(line);
      if (families.has(name)) throw new Error(`${name} is explained twice.`);
      family = { name, type, help: help.text, samples: [] };
      families.set(name, family);
    } else {
      const sample = parseSample(line);
      if (family === undefined || !belongs(sample, family)) refuse(line);
      family.samples.push(sample);
    }
  }
  for (const each of families.values()) checkFamily(each);
  return families;
}

function parseSample(line: string): Sample {
  const [, name = '', labelText = '', number = ''] = SAMPLE.exec(line) ?? refuse(line);
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < labelText.length) {
    const [, label = '', value = ''] = LABEL.exec(labelText) ?? refuse(line);
    if (label in labels) refuse(line);
    labels[label] = unescaped(value, /\\(\\|n|")/g);
  }
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  if (Number.isNaN(value)) refuse(line);
  return { name, labels, value };
}

function belongs({ name, labels }: Sample, family: Family): boolean {
  if (family.type !== 'histogram') return name === family.name;
  const part = name.slice(family.name.length);
  const isBucket = part === '_bucket' && labels['le'] !== undefined;
  return name.startsWith(family.name) && (isBucket || part === '_sum' || part === '_count');
}

function checkFamily({ name, type, samples }: Family): void {
  if (samples.length === 0) throw new Error(`${name} has no sample.`);
  if (type === 'counter' && !name.endsWith('_total')) throw new Error(`${name} is a counter.`);
  const seen = new Set(samples.map(({ name: each, labels }) => each + JSON.stringify(labels)));
  if (seen.size !== samples.length) throw new Error(`${name} has a sample twice.`);
  if (type === 'histogram') checkHistogram(name, samples);
}

/** Per set of labels: buckets rise in bound and count, the last is +Inf and equal to the count. */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  const series = new Map<string, Sample[]>();
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels;
    const key = JSON.stringify(labels);
    series.set(key, [...(series.get(key) ?? []), sample]);
  }
  for (const each of series.values()) {
    const buckets = each.filter((sample) => sample.name === `${name}_bucket`);
    const count = each.find((sample) => sample.name === `${name}_count`)?.value;
    const sum = each.find((sample) => sample.name === `${name}_sum`)?.value;
    const bounds = buckets.map(({ labels }) =>
      labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels['le']),
    );
    const isRising = (values: readonly number[], isStrict: boolean) =>
      values.every((value, index) => {
        const before = values[index - 1] ?? Number.NEGATIVE_INFINITY;
        return isStrict ? value > before : value >= before;
      });
    if (!isRising(bounds, true) || bounds.at(-1) !== Number.POSITIVE_INFINITY)
      throw new Error(`The bounds of ${name} do not rise to +Inf.`);
    const values = buckets.map(({ value }) => value);
    if (!isRising(values, false) || values.at(-1) !== count || sum === undefined)
      throw new Error(`The buckets of ${name} do not add up.`);
  }
}

function unescaped(text: string, escapes: RegExp): string {
  if (text.replace(escapes, '').includes('\\')) throw new Error(`Unknown escape in ${text}`);
  return text.replace(escapes, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
}

function refuse(line: string): never {
  throw new Error(`Not a line of the format: ${line}`);
}
