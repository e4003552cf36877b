/** A place in a drawing, px. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

const round = (value: number) => Math.round(value * 10) / 10;
const textOf = ({ x, y }: Place) => `${round(x)},${round(y)}`;

/** Places as one straight line after the other, for `d` of a path; a gap where there is none. */
export function linePath(places: readonly (Place | undefined)[]): string {
  const said: string[] = [];
  places.forEach((place, at) => {
    if (place) said.push(`${at > 0 && places[at - 1] ? 'L' : 'M'}${textOf(place)}`);
  });
  return said.join('');
}

/** The same, down to a base line and closed. Places are without gaps. */
export function areaPath(places: readonly Place[], base: number): string {
  const [first, last] = [places[0], places.at(-1)];
  if (!first || !last) return '';
  return `${linePath(places)}L${textOf({ x: last.x, y: base })}L${textOf({ x: first.x, y: base })}Z`;
}

/** Places of values that lie evenly between two ends, the first and the last at them; one alone in the middle. */
export const spread = (count: number, left: number, right: number): readonly number[] =>
  Array.from({ length: count }, (_, at) =>
    count === 1 ? (left + right) / 2 : left + ((right - left) * at) / (count - 1),
  );

/** Values as a line of a small drawing from 0 up to their greatest, a stroke's width from its edges. */
export function sparkPlaces(values: readonly number[], width: number, height: number): readonly Place[] {
  const most = Math.max(1, ...values);
  const xs = spread(values.length, 1, width - 1);
  return values.map((value, at) => ({ x: xs[at] ?? 0, y: height - 1 - ((height - 2) * value) / most }));
}
