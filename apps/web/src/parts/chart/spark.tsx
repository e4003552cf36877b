import { areaPath, linePath, sparkPlaces } from './path.ts';
import styles from './chart.module.css';

const [width, height] = [92, 24];

/** The course of a number, small, beside the number itself: a screen reader does without. */
export function Spark({ values }: { readonly values: readonly number[] }) {
  const places = sparkPlaces(values, width, height);
  return (
    <svg className={styles.spark} width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden>
      <path className={styles.area} d={areaPath(places, height)} />
      <path className={styles.own} d={linePath(places)} />
    </svg>
  );
}
