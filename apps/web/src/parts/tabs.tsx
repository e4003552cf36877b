import type { ReactNode } from 'react';
import styles from './tabs.module.css';

/** The pages of one thing, as links: each has an address. The router marks the current one with `aria-current`. */
export const Tabs = ({ name, links }: { readonly name: string; readonly links: readonly ReactNode[] }) => (
  <nav className={styles.tabs} aria-label={name}>
    <ul>
      {links.map((link, place) => (
        <li key={place}>{link}</li>
      ))}
    </ul>
  </nav>
);
