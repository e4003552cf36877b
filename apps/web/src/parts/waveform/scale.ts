/** The stretch of a sound that is shown, in milliseconds. */
export interface View {
  readonly startMs: number;
  readonly lengthMs: number;
}

/** Where a time stands, in pixels from the beginning of a view of so many pixels. */
export const pixelOf = ({ startMs, lengthMs }: View, widthPx: number, ms: number): number =>
  ((ms - startMs) / lengthMs) * widthPx;

/** The time at a pixel, in whole milliseconds. */
export const timeAt = ({ startMs, lengthMs }: View, widthPx: number, px: number): number =>
  Math.round(startMs + (px / widthPx) * lengthMs);

/** The shortest stretch that is worth a look. */
const lengthMsMin = 10_000;

/**
 * The view with another length, with a time where it was before as far as the sound allows: it begins at 0 at the earliest and ends with the sound.
 * @param factor 2 shows half as much
 */
export function zoomed(view: View, durationMs: number, factor: number, aroundMs: number): View {
  const lengthMs = Math.min(durationMs, Math.max(Math.min(lengthMsMin, durationMs), view.lengthMs / factor));
  const isInside = aroundMs >= view.startMs && aroundMs <= view.startMs + view.lengthMs;
  const share = isInside ? (aroundMs - view.startMs) / view.lengthMs : 0.5;
  const startMs = Math.min(Math.max(0, aroundMs - share * lengthMs), durationMs - lengthMs);
  return { startMs, lengthMs };
}

/** The view moved as little as needed for a time to be seen, with some room beside it. */
export function revealing(view: View, durationMs: number, ms: number): View {
  const { startMs, lengthMs } = view;
  if (ms >= startMs && ms <= startMs + lengthMs) return view;
  return { lengthMs, startMs: Math.min(Math.max(0, ms - lengthMs / 4), durationMs - lengthMs) };
}

const stepsS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200];

/** Round times for an axis, at least so many pixels apart. */
export function ticksOf(view: View, widthPx: number, apartPx = 72): readonly number[] {
  const leastS = (apartPx / widthPx) * (view.lengthMs / 1000);
  const stepMs = (stepsS.find((step) => step >= leastS) ?? Math.ceil(leastS / 3600) * 3600) * 1000;
  const first = Math.ceil(view.startMs / stepMs);
  const count = Math.floor((view.startMs + view.lengthMs) / stepMs) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, at) => (first + at) * stepMs);
}

/** A label that wants a place: where its middle is, and how wide it is. */
export interface Label {
  readonly key: string;
  readonly px: number;
  readonly widthPx: number;
}

/** The labels that stand beside each other without touching, those named first before others, then from the left. */
export function fittingLabels(labels: readonly Label[], first: string | undefined, gapPx = 4): ReadonlySet<string> {
  const placed: Label[] = [];
  const wanted = labels.toSorted((a, b) => Number(b.key === first) - Number(a.key === first) || a.px - b.px);
  for (const label of wanted)
    if (placed.every((other) => Math.abs(other.px - label.px) >= (other.widthPx + label.widthPx) / 2 + gapPx))
      placed.push(label);
  return new Set(placed.map(({ key }) => key));
}
