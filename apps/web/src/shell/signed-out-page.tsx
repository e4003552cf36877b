import { useEffect } from 'react';
import { signInAddress } from '../api/sign-in-address.ts';
import { t } from '../messages/messages.ts';
import { buttonClass } from '../parts/button.tsx';
import { Mark } from './mark.tsx';
import styles from './signed-out-page.module.css';

/** Nobody is signed in, or no longer: the way to sign in, and back to this very address. */
export function SignedOutPage() {
  useEffect(() => {
    document.title = `${t('signed_out.title')} · Longwave`;
  }, []);
  return (
    <div className={styles.page}>
      <header className={styles.brand}>
        <Mark />
        Longwave
      </header>
      <main id="main" className={styles.card}>
        <h1>{t('signed_out.title')}</h1>
        <p>{t('signed_out.help')}</p>
        <div className={styles.ways}>
          <a
            className={buttonClass({ kind: 'primary' })}
            href={signInAddress(`${location.pathname}${location.search}`)}
          >
            {t('signed_out.sign_in')}
          </a>
          <a className={buttonClass()} href="/sign-up">
            {t('signed_out.sign_up')}
          </a>
        </div>
      </main>
    </div>
  );
}
