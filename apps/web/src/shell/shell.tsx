import { Outlet } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { session } from '../api/session.ts';
import { t } from '../messages/messages.ts';
import { Toasts } from '../parts/toast.tsx';
import { Rail } from './rail.tsx';
import { SignedOutPage } from './signed-out-page.tsx';
import styles from './shell.module.css';

/** What stands around every page. Without a session there is nothing to show but the way to sign in. */
export function Shell() {
  const isOver = useSyncExternalStore(session.subscribe, session.isOver);
  if (isOver) return <SignedOutPage hasEnded />;
  return (
    <div className={styles.app}>
      <a className={styles.skip} href="#main">
        {t('skip')}
      </a>
      <Rail />
      <main id="main" tabIndex={-1} className={styles.main}>
        <Outlet />
      </main>
      <Toasts />
    </div>
  );
}
