import { useEffect } from 'react';
import { signInAddress } from '../api/sign-in-address.ts';
import { t } from '../messages/messages.ts';
import { buttonClass } from '../parts/button.tsx';
import { Mark } from './mark.tsx';
import styles from './signed-out-page.module.css';

/**
 * Nobody is signed in: the way to sign in, and back to this very address.
 * @param hasEnded whether somebody was, when this page was opened
 */
export function SignedOutPage({ hasEnded }: { readonly hasEnded: boolean }) {
  const title = t(hasEnded ? 'signed_out.title' : 'signed_out.first_title');
  useEffect(() => {
    document.title = `${title} · Longwave`;
  }, [title]);
  return (
    <div className={styles.page}>
      <header className={styles.brand}>
        <Mark />
        Longwave
      </header>
      <main id="main" className={styles.card}>
        <h1>{title}</h1>
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
