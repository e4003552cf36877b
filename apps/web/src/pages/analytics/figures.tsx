import type { ReactNode } from 'react';
import { classes } from '../../look/classes.ts';
import { t } from '../../messages/messages.ts';
import { changeText, numberText } from '../../parts/format.ts';
import { usePlace } from '../../shell/place.ts';
import styles from './analytics.module.css';

/** A number with its name and what it is based on. */
export const Figure = ({
  name,
  value,
  basis,
}: {
  readonly name: string;
  readonly value: number | undefined;
  readonly basis: ReactNode;
}) => {
  const { language } = usePlace();
  return (
    <div className={styles.figure}>
      <dt>{name}</dt>
      <dd className={styles.value}>{value === undefined ? '–' : numberText(value, language)}</dd>
      <dd className={styles.small}>{basis}</dd>
    </div>
  );
};

/** How far a number is from another, with its sign and its colour. */
export const Change = ({ of }: { readonly of: number }) => {
  const { language } = usePlace();
  return <span className={classes(of < 0 && styles.down, of > 0 && styles.up)}>{changeText(of, language)}</span>;
};

/** Against what a total is compared. */
export const Against = ({
  change,
  before,
}: {
  readonly change: number | undefined;
  readonly before: number | undefined;
}) => {
  const { language } = usePlace();
  if (change === undefined || before === undefined) return t('analytics.no_comparison');
  return (
    <>
      <Change of={change} /> {t('analytics.against', { before: numberText(before, language) })}
    </>
  );
};
