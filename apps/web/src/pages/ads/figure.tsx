import type { ReactNode } from 'react';
import styles from './figure.module.css';

/** A number with its name, and what it is based on. */
export const Figure = ({
  name,
  value,
  note,
}: {
  readonly name: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
}) => (
  <div>
    <dt>{name}</dt>
    <dd className={styles.value}>{value}</dd>
    {note !== undefined && <dd className={styles.note}>{note}</dd>}
  </div>
);

/** Figures side by side, at the head of a page. */
export const Figures = ({ children }: { readonly children: ReactNode }) => (
  <dl className={styles.figures}>{children}</dl>
);
