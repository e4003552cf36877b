import type { ReactNode } from 'react';
import styles from './form.module.css';

/** Fields side by side where there is room. */
export const FieldGrid = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles.fields}>{children}</div>
);

/** A field that needs the whole width. */
export const Wide = ({ children }: { readonly children: ReactNode }) => <div className={styles.wide}>{children}</div>;
