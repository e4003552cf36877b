import { useId, type ReactNode } from 'react';
import styles from './card.module.css';

/** A part of a page with its heading. `basis` says what its content is based on, as "last 7 days"; `plain` leaves out the space around it. */
export function Card({
  title,
  basis,
  end,
  plain = false,
  children,
}: {
  readonly title: string;
  readonly basis?: string;
  readonly end?: ReactNode;
  readonly plain?: boolean;
  readonly children: ReactNode;
}) {
  const id = useId();
  return (
    <section className={styles.card} aria-labelledby={id}>
      <header className={styles.header}>
        <h2 id={id}>{title}</h2>
        {basis !== undefined && <span className={styles.basis}>{basis}</span>}
        {end !== undefined && <div className={styles.end}>{end}</div>}
      </header>
      {plain ? children : <div className={styles.inside}>{children}</div>}
    </section>
  );
}

/** Cards side by side where there is room. */
export const Cards = ({ children }: { readonly children: ReactNode }) => <div className={styles.grid}>{children}</div>;

/** Cards one below the other, beside another one. */
export const Column = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles.column}>{children}</div>
);

/** Names and values, one pair a line; a pair without a value is left out. */
export const Pairs = ({ of }: { readonly of: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <dl className={styles.pairs}>
    {of
      .filter(([, value]) => value !== undefined && value !== null && value !== '')
      .map(([name, value]) => (
        <Pair key={name} name={name} value={value} />
      ))}
  </dl>
);

const Pair = ({ name, value }: { readonly name: string; readonly value: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </>
);
