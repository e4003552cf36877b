import { useState } from 'react';
import { t, type MessageKey } from '../../messages/messages.ts';
import { Button } from '../button.tsx';
import { Dialog } from '../dialog.tsx';
import { Field } from '../field.tsx';
import { ProblemBanner } from '../problem.tsx';

/** Asks for the title typed before something is done for ever, and says what will be true afterwards. */
export function TypedDialog({
  isOpen,
  onClose,
  onGo,
  act,
  title,
  name,
  help,
  goes,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onGo: () => void;
  /** The write, while it runs and when it was refused. */
  readonly act: { readonly isPending: boolean; readonly error: unknown };
  readonly title: MessageKey;
  /** What has to be typed. */
  readonly name: string;
  readonly help: string;
  /** What the button says. */
  readonly goes: MessageKey;
}) {
  const [typed, setTyped] = useState('');
  const isRight = typed.trim() === name.trim();
  const close = () => {
    setTyped('');
    onClose();
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title={t(title)}
      actions={
        <>
          <Button onClick={close}>{t('cancel')}</Button>
          <Button kind="danger" busy={!isRight || act.isPending} onClick={onGo}>
            {t(goes)}
          </Button>
        </>
      }
    >
      <p>{help}</p>
      <Field label={t('form.type_title')} hint={name}>
        {(control) => (
          <input {...control} autoComplete="off" value={typed} onChange={(event) => setTyped(event.target.value)} />
        )}
      </Field>
      {act.error !== null && <ProblemBanner error={act.error} />}
    </Dialog>
  );
}
