import { Download } from 'lucide-react';
import { useId, useState, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react';
import { classes } from '../../look/classes.ts';
import { t } from '../../messages/messages.ts';
import { usePlace } from '../../shell/place.ts';
import { Button } from '../button.tsx';
import { numberText } from '../format.ts';
import { useWidth } from '../use-width.ts';
import { moveByKey, nearestPoint } from './axis.ts';
import type { ChartData, ChartPoint } from './chart-data.ts';
import { toCsv } from './csv.ts';
import { spread } from './path.ts';
import { frameOf, Plot } from './plot.tsx';
import { saveFile } from './save-file.ts';
import styles from './chart.module.css';

const valueText = (value: number | undefined, language: string) =>
  value === undefined ? t('chart.none') : numberText(value, language);

/** Why a point says less than others. */
function noteOf({ isUnfinished, isPart }: ChartPoint): string | undefined {
  if (isUnfinished) return t('chart.unfinished');
  return isPart ? t('chart.part') : undefined;
}

/** A point as one sentence: `Saturday, 14 November 2026: Downloads 8,253; 30 days before 7,134`. */
function pointText({ series }: ChartData, point: ChartPoint, language: string): string {
  const values = series.map(({ name }, place) => `${name} ${valueText(point.values[place], language)}`);
  const note = noteOf(point);
  return `${point.title}: ${values.join('; ')}${note === undefined ? '' : `. ${note}`}`;
}

/** What stands beside a point while one points at it. */
function Note({
  data,
  point,
  left,
  isLeft,
}: {
  readonly data: ChartData;
  readonly point: ChartPoint;
  readonly left: number;
  readonly isLeft: boolean;
}) {
  const { language } = usePlace();
  return (
    <div className={classes(styles.note, isLeft && styles.before_point)} style={{ insetInlineStart: left }} aria-hidden>
      <b>{point.title}</b>
      <dl>
        {data.series.map(({ name, look }, place) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className={styles[look]}>{valueText(point.values[place], language)}</dd>
          </div>
        ))}
      </dl>
      {noteOf(point) !== undefined && <small>{noteOf(point)}</small>}
    </div>
  );
}

/** The drawing with its point, which arrow keys, Home, End and the pointer move. */
function Drawing({ name, data, shape, onOpen }: Pick<ChartProps, 'name' | 'data' | 'shape' | 'onOpen'>) {
  const { language } = usePlace();
  const [ref, width] = useWidth();
  const [active, setActive] = useState<number>();
  const hint = useId();
  const frame = frameOf(width, data, shape);
  const point = active === undefined ? undefined : data.points[active];
  const open = (at: number | undefined) => at !== undefined && at < data.points.length && onOpen?.(at);
  const onKeyDown = (event: KeyboardEvent) => {
    const to = moveByKey(event.key, active, data.points.length);
    if (event.key === 'Enter') open(active);
    else if (event.key === 'Escape') setActive(undefined);
    else if (to !== undefined) setActive(to);
    else return;
    event.preventDefault();
  };
  const placeOf = (event: PointerEvent) =>
    nearestPoint(
      event.clientX - event.currentTarget.getBoundingClientRect().left,
      data.points.length,
      frame.left,
      frame.right,
    );
  const x = spread(data.points.length, frame.left, frame.right)[active ?? 0] ?? 0;
  return (
    <div
      ref={ref}
      className={classes(styles.drawing, onOpen && styles.opens)}
      role="group"
      aria-label={name}
      aria-describedby={hint}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onBlur={() => setActive(undefined)}
      onPointerMove={(event) => setActive(placeOf(event))}
      onPointerLeave={() => setActive(undefined)}
      onPointerUp={(event) => event.button === 0 && open(placeOf(event))}
    >
      {width > 0 && <Plot data={data} frame={frame} shape={shape ?? 'line'} active={active} language={language} />}
      {point && <Note data={data} point={point} left={x} isLeft={x > width * 0.6} />}
      <span id={hint} className="hidden">
        {t(onOpen ? 'chart.keys_open' : 'chart.keys')}
      </span>
      <span className="hidden" aria-live="polite">
        {point && pointText(data, point, language)}
      </span>
    </div>
  );
}

/** The same numbers as a table. */
function Numbers({ name, data: { series, points } }: Pick<ChartProps, 'name' | 'data'>) {
  const { language } = usePlace();
  return (
    <div className={styles.numbers} role="group" aria-label={name} tabIndex={0}>
      <table>
        <caption className="hidden">{name}</caption>
        <thead>
          <tr>
            <th scope="col">{t('chart.period')}</th>
            {series.map(({ name: title }) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points.map((point) => (
            <tr key={point.key}>
              <th scope="row">
                {point.title}
                {noteOf(point) !== undefined && <small> {noteOf(point)}</small>}
              </th>
              {series.map(({ name: title }, place) => (
                <td key={title}>{valueText(point.values[place], language)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface ChartProps {
  /** One sentence: what is shown, of what, when. */
  readonly name: string;
  readonly data: ChartData;
  readonly shape: 'line' | 'bars';
  /** The name of the file that CSV saves, without its ending. */
  readonly file: string;
  /** The zone of the buckets, which the file names in a column. */
  readonly zone: string;
  /** Its heading, where it has one of its own. */
  readonly head?: ReactNode;
  /** What changes how it is drawn, beside the way to the table. */
  readonly tools?: ReactNode;
  /** Opens the range of a point. */
  readonly onOpen?: ((point: number) => void) | undefined;
}

/**
 * Numbers over time: one question, at most four series, from 0 on. Arrow keys, Home and End move a point that is read aloud, Enter opens its range;
 * the same numbers are there as a table and as a file.
 */
export function Chart({ name, data, shape, file, zone, head: title, tools, onOpen }: ChartProps) {
  const [isTable, setTable] = useState(false);
  const save = () => {
    const head = [t('chart.period'), t('chart.zone'), ...data.series.map((one) => one.name)];
    const rows = data.points.map(({ key, values }) => [key, zone, ...values]);
    saveFile(`${file}.csv`, toCsv(head, rows), 'text/csv');
  };
  return (
    <figure className={styles.chart} aria-label={name}>
      <div className={styles.tools}>
        {title}
        <ul className={styles.legend}>
          {data.series.length > 1 &&
            data.series.map(({ name: series, look }) => (
              <li key={series} className={styles[look]}>
                {series}
              </li>
            ))}
        </ul>
        {tools}
        <Button size="small" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          {t('chart.table')}
        </Button>
        <Button size="small" icon={Download} onClick={save}>
          {t('chart.csv')}
        </Button>
      </div>
      {isTable ? (
        <Numbers name={name} data={data} />
      ) : (
        <Drawing name={name} data={data} shape={shape} onOpen={onOpen} />
      )}
    </figure>
  );
}
