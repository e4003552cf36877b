import { t } from '../messages/messages.ts';
import styles from './skeleton.module.css';

/** Lines in the place of what is on its way. They appear after 150 ms, so that a quick answer shows none. */
export const Skeleton = ({ lines = 3 }: { readonly lines?: number }) => (
  <div className={styles.skeleton} role="status" aria-label={t('loading')}>
    {Array.from({ length: lines }, (_, line) => (
      <span key={line} />
    ))}
  </div>
);
