/** Steps that people count in: 1, 2, 2.5 and 5 of each power of ten. */
const steps = [1, 2, 2.5, 5, 10];

/**
 * The marks of an axis of counts: from 0 up to the first one that nothing exceeds, all of them whole.
 * @param most the greatest value that is shown
 * @param wanted about how many steps there shall be
 */
export function ticksUpTo(most: number, wanted = 4): readonly number[] {
  const rough = Math.max(most, 1) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, (steps.find((each) => each * power >= rough) ?? 10) * power);
  const whole = Math.ceil(step);
  const count = Math.max(1, Math.ceil(most / whole));
  return Array.from({ length: count + 1 }, (_, place) => place * whole);
}

/** Every how many points a label has room: 1 for all of them. */
export const labelEvery = (points: number, width: number, labelWidth: number): number =>
  Math.max(1, Math.ceil((points * labelWidth) / Math.max(width, labelWidth)));

/** The point that lies nearest to a place, where points lie evenly between `left` and `right`; undefined without points. */
export function nearestPoint(x: number, points: number, left: number, right: number): number | undefined {
  if (points === 0) return undefined;
  const share = right === left ? 0 : (x - left) / (right - left);
  return Math.min(points - 1, Math.max(0, Math.round(share * (points - 1))));
}

/** Where a key moves a point: one step, a tenth of all, to an end; undefined for other keys. Without a point, the last one comes first. */
export function moveByKey(key: string, at: number | undefined, points: number): number | undefined {
  const page = Math.max(1, Math.round(points / 10));
  const from = at ?? points;
  const places: Readonly<Record<string, number>> = {
    ArrowLeft: from - 1,
    ArrowRight: at === undefined ? points - 1 : at + 1,
    PageUp: from - page,
    PageDown: at === undefined ? points - 1 : at + page,
    Home: 0,
    End: points - 1,
  };
  const place = places[key];
  return place === undefined || points === 0 ? undefined : Math.min(points - 1, Math.max(0, place));
}

/** Of labels in order, those that have room: each is so wide, centred on its place. */
export function withRoom<Label extends { readonly x: number; readonly text: string }>(
  labels: readonly Label[],
  letterWidth: number,
): readonly Label[] {
  let end = Number.NEGATIVE_INFINITY;
  return labels.filter(({ x, text }) => {
    const half = (text.length * letterWidth) / 2;
    if (x - half < end) return false;
    end = x + half + letterWidth;
    return true;
  });
}
