import { classes } from '../../look/classes.ts';
import { localeOf } from '../format.ts';
import { labelEvery, ticksUpTo, withRoom } from './axis.ts';
import { greatestOf, splitUnfinished, type ChartData } from './chart-data.ts';
import { areaPath, linePath, spread, type Place } from './path.ts';
import styles from './chart.module.css';

/** Where a chart draws, px: the plot inside its axes. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly base: number;
}

const letterWidth = 6.5;
/** How much of a chart what lies behind a wall takes at most. */
const wallMax = 0.28;

/** The frame of a chart that is so wide: room for the axes, for marks and for the wall. */
export function frameOf(width: number, data: ChartData, shape: 'line' | 'bars'): Frame {
  const height = width < 520 ? 200 : 272;
  const hasMarks = data.points.some(({ mark }) => mark !== undefined);
  const [axis, right] = [44, width - 14];
  const wall = data.wall ? Math.min(wallMax, data.wall.share) * (right - axis) : 0;
  // Half a bar has room before the first and after the last place.
  const inset = shape === 'bars' ? (right - axis - wall) / (2 * Math.max(1, data.points.length)) : 0;
  return { width, height, left: axis + wall + inset, right: right - inset, top: hasMarks ? 24 : 10, base: height - 30 };
}

/** A number for an axis: `2.5k`. */
const tickText = (value: number, language: string) =>
  new Intl.NumberFormat(localeOf(language), { notation: 'compact', maximumFractionDigits: 1 }).format(value);

function Axes({
  data,
  frame,
  ticks,
  language,
  y,
}: {
  readonly data: ChartData;
  readonly frame: Frame;
  readonly ticks: readonly number[];
  readonly language: string;
  readonly y: (value: number) => number;
}) {
  const { left, right, base, width } = frame;
  const xs = spread(data.points.length, left, right);
  const widest = Math.max(0, ...data.points.map(({ short }) => short.length));
  const every = labelEvery(data.points.length, right - left, widest * letterWidth + 22);
  return (
    <>
      {ticks.map((tick) => (
        <g key={tick}>
          <path className={styles.line} d={`M44,${y(tick)}H${width - 14}`} />
          <text className={styles.axis} x={36} y={y(tick) + 4} textAnchor="end">
            {tickText(tick, language)}
          </text>
        </g>
      ))}
      {data.points.map(({ key, short }, at) => {
        if (at % every !== 0) return null;
        const half = (short.length * letterWidth) / 2;
        const x = Math.min(Math.max(xs[at] ?? 0, half + 2), width - half - 2);
        return (
          <text key={key} className={styles.axis} x={x} y={base + 20} textAnchor="middle">
            {short}
          </text>
        );
      })}
    </>
  );
}

/** Episodes and the like, above the points at which they came. */
function Marks({ data, frame, xs, y }: Omit<Parts, 'shape'>) {
  const marks = data.points.flatMap(({ mark, values }, at) =>
    mark === undefined ? [] : [{ x: xs[at] ?? 0, text: mark, value: values[0] ?? 0 }],
  );
  return (
    <>
      {marks.map(({ x, value }) => (
        <g key={x}>
          <path className={styles.post} d={`M${x},${frame.top}V${y(value) - 6}`} />
          <circle className={styles.dot} cx={x} cy={y(value)} r={3.5} />
        </g>
      ))}
      {withRoom(marks, letterWidth + 0.5).map(({ x, text }) => {
        const half = (text.length * (letterWidth + 0.5)) / 2;
        return (
          <text
            key={x}
            className={styles.mark}
            x={Math.min(Math.max(x, half), frame.width - half)}
            y={14}
            textAnchor="middle"
          >
            {text}
          </text>
        );
      })}
    </>
  );
}

interface Parts {
  readonly data: ChartData;
  readonly frame: Frame;
  readonly xs: readonly number[];
  readonly y: (value: number) => number;
}

/** The series as lines, the first one with the area below it; what may still grow is dotted. */
function Lines({ data: { series, points }, frame, xs, y }: Parts) {
  const { solidTo, dottedFrom } = splitUnfinished(points);
  const placesOf = (place: number) =>
    points.map(({ values }, at): Place | undefined => {
      const value = values[place];
      return value === undefined ? undefined : { x: xs[at] ?? 0, y: y(value) };
    });
  const known = placesOf(0).filter((place) => place !== undefined);
  return (
    <>
      <path className={classes(styles.area, styles[series[0]?.look ?? 'own'])} d={areaPath(known, frame.base)} />
      {series
        .map(({ name, look }, place) => {
          const places = placesOf(place);
          if (look !== 'own' && look !== 'ads')
            return <path key={name} className={styles[look]} d={linePath(places)} />;
          return (
            <g key={name}>
              <path className={styles[look]} d={linePath(places.slice(0, solidTo))} />
              <path className={classes(styles[look], styles.dotted)} d={linePath(places.slice(dottedFrom))} />
            </g>
          );
        })
        .toReversed()}
    </>
  );
}

/** The first series as bars, one a bucket; what may still grow is an outline. */
function Bars({ data: { series, points }, frame, xs, y }: Parts) {
  const slot = points.length > 1 ? (xs[1] ?? 0) - (xs[0] ?? 0) : 120;
  const width = Math.min(44, Math.max(2, slot * 0.7));
  return points.map(({ key, values, isUnfinished }, at) => {
    const top = y(values[0] ?? 0);
    const look = classes(styles.bar, styles[series[0]?.look ?? 'own'], isUnfinished && styles.open);
    return (
      <rect
        key={key}
        className={look}
        x={(xs[at] ?? 0) - width / 2}
        y={top}
        width={width}
        height={frame.base - top}
        rx={2}
      />
    );
  });
}

/** The drawing of a chart. Its words are beside it: a screen reader does without. */
export function Plot({
  data,
  frame,
  shape,
  active,
  language,
}: {
  readonly data: ChartData;
  readonly frame: Frame;
  readonly shape: 'line' | 'bars';
  readonly active: number | undefined;
  readonly language: string;
}) {
  const { width, height, left, right, top, base } = frame;
  const ticks = ticksUpTo(greatestOf(data));
  const most = ticks.at(-1) ?? 1;
  const y = (value: number) => base - ((base - top) * value) / most;
  const xs = spread(data.points.length, left, right);
  const at = active === undefined ? undefined : data.points[active];
  const x = active === undefined ? 0 : (xs[active] ?? 0);
  const parts = { data, frame, xs, y };
  return (
    <svg className={styles.plot} width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden>
      {data.wall && (
        <>
          <rect className={styles.hidden} x={44} y={top} width={left - 44} height={base - top} />
          <path className={styles.wall} d={`M${left},${top}V${base}`} />
        </>
      )}
      <Axes data={data} frame={frame} ticks={ticks} language={language} y={y} />
      {shape === 'line' ? <Lines {...parts} /> : <Bars {...parts} />}
      {shape === 'line' && <Marks {...parts} />}
      {at && (
        <>
          <path className={styles.cursor} d={`M${x},${top}V${base}`} />
          {at.values.map(
            (value, place) =>
              value !== undefined && (
                <circle
                  key={place}
                  className={classes(styles.point, styles[data.series[place]?.look ?? 'own'])}
                  cx={x}
                  cy={y(value)}
                  r={4}
                />
              ),
          )}
        </>
      )}
    </svg>
  );
}
