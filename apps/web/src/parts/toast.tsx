import { X } from 'lucide-react';
import { useEffect, useSyncExternalStore } from 'react';
import { t } from '../messages/messages.ts';
import { Button } from './button.tsx';
import { createToastList, toastMs, type Toast } from './toast-list.ts';
import styles from './toast.module.css';

const list = createToastList();

/** Says for a few seconds that something has happened. What a person must not miss stands on the page instead. */
export const showToast = (text: string): void => void list.show(text);

function Message({ toast: { id, text } }: { readonly toast: Toast }) {
  useEffect(() => {
    const timer = setTimeout(() => list.close(id), toastMs(text));
    return () => clearTimeout(timer);
  }, [id, text]);
  return (
    <div className={styles.toast}>
      <span>{text}</span>
      <Button kind="quiet" size="small" square icon={X} aria-label={t('close')} onClick={() => list.close(id)} />
    </div>
  );
}

/** The place of all messages; it stands once, in the shell, and is spoken politely. */
export function Toasts() {
  const toasts = useSyncExternalStore(list.subscribe, list.current);
  return (
    <div className={styles.toasts} role="status" aria-live="polite">
      {toasts.map((toast) => (
        <Message key={toast.id} toast={toast} />
      ))}
    </div>
  );
}
