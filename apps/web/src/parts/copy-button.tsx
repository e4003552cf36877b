import { Copy } from 'lucide-react';
import { t, type MessageKey } from '../messages/messages.ts';
import { Button } from './button.tsx';
import { showToast } from './toast.tsx';

/** Copies a text, and says so. */
export function CopyButton({
  name,
  text,
  size,
}: {
  readonly name: MessageKey;
  readonly text: string;
  readonly size?: 'small';
}) {
  const copy = () =>
    void navigator.clipboard.writeText(text).then(
      () => showToast(t('copied')),
      () => showToast(t('copy_failed')),
    );
  return (
    <Button icon={Copy} {...(size && { size })} onClick={copy}>
      {t(name)}
    </Button>
  );
}
