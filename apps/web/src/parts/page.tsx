import { useEffect, type ReactNode } from 'react';
import { classes } from '../look/classes.ts';
import { t } from '../messages/messages.ts';
import styles from './page.module.css';

/**
 * The frame of every page: crumbs, its one `h1`, what it is about, its actions. Also the name of the tab.
 * @param voice whether the title is the show's own words, which are set in a serif
 */
export function Page({
  title,
  voice = false,
  crumbs = [],
  picture,
  meta,
  actions,
  children,
}: {
  readonly title: string;
  readonly voice?: boolean;
  /** Links to the pages above, the highest first. */
  readonly crumbs?: readonly ReactNode[];
  readonly picture?: ReactNode;
  readonly meta?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Longwave`;
  }, [title]);
  return (
    <>
      {crumbs.length > 0 && (
        <nav className={styles.crumbs} aria-label={t('crumbs')}>
          <ol>
            {crumbs.map((crumb, place) => (
              <li key={place}>{crumb}</li>
            ))}
          </ol>
        </nav>
      )}
      <div className={styles.head}>
        {picture}
        <div className={styles.titles}>
          <h1 tabIndex={-1} className={classes(voice && 'voice')}>
            {title}
          </h1>
          {meta !== undefined && <div className={styles.meta}>{meta}</div>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </div>
      <div className={styles.body}>{children}</div>
    </>
  );
}
