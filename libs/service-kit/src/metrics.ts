import { metrics, type Attributes, type Histogram } from '@opentelemetry/api';

/** The meter of everything that Longwave measures. Without `startTelemetry` its instruments do nothing. */
export const meter = () => metrics.getMeter('longwave');

/** Bounds of the buckets of durations, in seconds. */
const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** A histogram of durations in seconds. */
export const createDuration = (name: string, description: string): Histogram =>
  meter().createHistogram(name, {
    description,
    unit: 's',
    advice: { explicitBucketBoundaries: durationBounds },
  });

/** A scrape does not wait longer for one value. */
const maxReadMs = 2_000;

export interface Observation {
  readonly value: number;
  readonly labels?: Attributes;
}

/**
 * A gauge that is read at each scrape until it is disposed. A value that cannot be read within 2 s is left out of that scrape, so
 * that an unreachable database hides no other value.
 */
export function observeGauge(
  name: string,
  { unit, description }: { readonly unit: string; readonly description: string },
  read: () => readonly Observation[] | Promise<readonly Observation[]>,
): Disposable {
  const gauge = meter().createObservableGauge(name, { unit, description });
  const observe = async (result: { observe(value: number, labels?: Attributes): void }) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<readonly Observation[]>((resolve) => {
      timer = setTimeout(() => resolve([]), maxReadMs);
    });
    const values = await Promise.race([Promise.try(read).catch(() => []), late]).finally(() => clearTimeout(timer));
    for (const { value, labels } of values) result.observe(value, labels);
  };
  gauge.addCallback(observe);
  return { [Symbol.dispose]: () => gauge.removeCallback(observe) };
}
