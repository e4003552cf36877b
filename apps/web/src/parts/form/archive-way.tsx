import { useState } from 'react';
import { t, type MessageKey } from '../../messages/messages.ts';
import { Button } from '../button.tsx';
import { Way } from '../way.tsx';
import { TypedDialog } from './typed-dialog.tsx';

/** Ends something for good, once its title has been typed. */
export function ArchiveWay({
  act,
  onGo,
  title,
  name,
  help,
}: {
  /** The write, while it runs and when it was refused. */
  readonly act: { readonly isPending: boolean; readonly error: unknown; readonly reset: () => void };
  readonly onGo: () => void;
  /** What the dialog is called. */
  readonly title: MessageKey;
  /** The title that has to be typed. */
  readonly name: string;
  readonly help: string;
}) {
  const [isAsking, setAsking] = useState(false);
  const close = () => {
    setAsking(false);
    act.reset();
  };
  return (
    <>
      <Way help={help}>
        <Button kind="danger" onClick={() => setAsking(true)}>
          {t('end.archive')}
        </Button>
      </Way>
      <TypedDialog
        isOpen={isAsking}
        onClose={close}
        onGo={onGo}
        act={act}
        title={title}
        name={name}
        help={help}
        goes="end.archive"
      />
    </>
  );
}
