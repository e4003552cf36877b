import { t } from '../messages/messages.ts';
import { Difference } from '../pages/ads/difference.tsx';
import { Button } from '../parts/button.tsx';
import styles from '../parts/form/form.module.css';
import type { Meanwhile as Found, Seen } from './opened.ts';

/** What somebody else changed since the form was opened, and what one typed: a choice before anything is sent. */
export function Meanwhile({
  workspace,
  found: { theirs, mine, contested },
  seen,
  onDecide,
}: {
  readonly workspace: string;
  readonly found: Found;
  readonly seen: Seen | undefined;
  readonly onDecide: (whose: 'mine' | 'theirs') => void;
}) {
  return (
    <section className={styles.meanwhile} role="alert" aria-label={t('form.meanwhile')}>
      <h2>{t('form.meanwhile')}</h2>
      <p>{t('ads.meanwhile')}</p>
      <div className={styles.sides}>
        <div className={styles.side}>
          <span className={styles.caption}>{t('form.theirs')}</span>
          <Difference workspace={workspace} steps={theirs} before={seen} />
          <Button size="small" onClick={() => onDecide('theirs')}>
            {t('form.take_theirs')}
          </Button>
        </div>
        {contested.length > 0 && (
          <div className={styles.side}>
            <span className={styles.caption}>{t('form.mine')}</span>
            <Difference workspace={workspace} steps={mine} before={seen} />
            <Button size="small" onClick={() => onDecide('mine')}>
              {t('form.keep_mine')}
            </Button>
          </div>
        )}
      </div>
    </section>
  );
}
