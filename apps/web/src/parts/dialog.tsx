import { useEffect, useId, useRef, type ReactNode } from 'react';
import styles from './dialog.module.css';

/**
 * A modal dialog of the platform: it keeps the focus inside, Escape closes it, and the focus returns to where it was.
 * @param actions buttons, the one that goes on last
 */
export function Dialog({
  isOpen,
  onClose,
  title,
  actions,
  children,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly actions: ReactNode;
  readonly children: ReactNode;
}) {
  const id = useId();
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (isOpen && dialog && !dialog.open) dialog.showModal();
    if (!isOpen && dialog?.open) dialog.close();
  }, [isOpen]);
  return (
    <dialog ref={ref} className={styles.dialog} aria-labelledby={id} onClose={onClose}>
      {isOpen && (
        <>
          <h2 id={id}>{title}</h2>
          {children}
          <div className={styles.actions}>{actions}</div>
        </>
      )}
    </dialog>
  );
}
