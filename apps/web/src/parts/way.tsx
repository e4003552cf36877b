import type { ReactNode } from 'react';
import styles from './way.module.css';

/** One thing that can be done: what it brings about, and its button. Several stand one below the other, with a line between them. */
export const Way = ({ help, children }: { readonly help: string; readonly children: ReactNode }) => (
  <div className={styles.way}>
    <p>{help}</p>
    {children}
  </div>
);
