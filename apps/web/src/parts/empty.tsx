import type { ReactNode } from 'react';
import type { LucideIcon } from 'lucide-react';
import { t, type MessageKey } from '../messages/messages.ts';
import { Icon } from './icon.tsx';
import styles from './empty.module.css';

/** What will be here, why nothing is, and the one next step. */
export const Empty = ({
  icon,
  title,
  why,
  next,
}: {
  readonly icon: LucideIcon;
  readonly title: MessageKey;
  readonly why: MessageKey;
  readonly next?: ReactNode;
}) => (
  <div className={styles.empty}>
    <span className={styles.mark}>
      <Icon of={icon} size={20} />
    </span>
    <h2>{t(title)}</h2>
    <p className={styles.why}>{t(why)}</p>
    {next !== undefined && <div className={styles.next}>{next}</div>}
  </div>
);
