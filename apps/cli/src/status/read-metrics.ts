/** One sample of a metric. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const sampleLine = /^(\w+)(?:\{(.*)\})? (\S+)/;
const labelPair = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** The samples of a text in the format of Prometheus. Comments, and lines that are none of it, are left out. */
export const parseMetrics = (text: string): readonly Sample[] =>
  text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = sampleLine.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(labelPair)].map(([, label, text]) => [label, text!.replace(/\\(.)/g, '$1')]);
    return [{ name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }];
  });
