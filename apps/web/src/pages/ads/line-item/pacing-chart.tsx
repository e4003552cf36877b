import { numberText } from '../../../parts/format.ts';
import { Time } from '../../../parts/time.tsx';
import { usePlace } from '../../../shell/place.ts';
import { t } from '../../../messages/messages.ts';
import { fieldName } from '../../../commands/words.ts';
import type { Hour } from './funnel.ts';
import styles from './delivery.module.css';

const [width, height, foot] = [720, 240, 8];

/** Committed against the plan, by the hour, both in total; the goal is the line at the top. The same numbers stand in a table. */
export function PacingChart({ hours, goal }: { readonly hours: readonly Hour[]; readonly goal: number }) {
  const { language } = usePlace();
  const points = hours.flatMap(({ hour, pacing }) => (pacing ? [{ at: Date.parse(hour), hour, ...pacing }] : []));
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || first === last) return null;
  const most = Math.max(goal, last.committed, last.target);
  const x = (at: number) => ((at - first.at) / (last.at - first.at)) * width;
  const y = (value: number) => height - foot - (value / most) * (height - 2 * foot);
  const line = (value: (point: (typeof points)[number]) => number) =>
    points
      .map((point, place) => `${place === 0 ? 'M' : 'L'}${x(point.at).toFixed(1)},${y(value(point)).toFixed(1)}`)
      .join('');
  const say = (value: number) => numberText(Math.round(value), language);
  const words = { committed: say(last.committed), goal: say(goal), target: say(last.target) };
  return (
    <figure className={styles.chart}>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={t('ads.pacing_name', words)}>
        <path className={styles.goal} d={`M0,${y(goal)}H${width}`} />
        <path className={styles.planned} d={line(({ target }) => target)} />
        <path className={styles.committed} d={line(({ committed }) => committed)} />
      </svg>
      <figcaption className={styles.legend}>
        <Time at={first.hour} form="moment" />
        <span>
          <i className={styles.keyCommitted} />
          {t('ads.delivered')}
        </span>
        <span>
          <i className={styles.keyPlanned} />
          {t('ads.plan')}
        </span>
        <span>
          <i className={styles.keyGoal} />
          {fieldName('goal')}: {say(goal)}
        </span>
        <Time at={last.hour} form="moment" />
      </figcaption>
    </figure>
  );
}
