import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { askManagement } from '../../api/management.ts';
import { t, type MessageKey } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import adLooks from '../ads/ads.module.css';

/** A file of a document or a result: its format, and what its button is called. */
export interface Format {
  readonly format: string;
  readonly name: MessageKey;
  /** Whether a browser shows it, in a tab of its own. */
  readonly isShown?: boolean;
}

/** Buttons that fetch a file: its signed address is asked for when it is wanted, and kept nowhere. */
export function Downloads({ path, formats }: { readonly path: string; readonly formats: readonly Format[] }) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: ({ format }: Format) => askManagement<{ readonly url: string }>(`${path}?format=${format}`),
    onSuccess: ({ url }, { isShown = false }) => {
      if (isShown) window.open(url, '_blank', 'noopener');
      else location.assign(url);
    },
  });
  return (
    <>
      <div className={adLooks.buttons}>
        {formats.map((each) => (
          <Button key={each.format} icon={Download} busy={isPending} onClick={() => mutate(each)}>
            {t(each.name)}
          </Button>
        ))}
      </div>
      {error !== null && <ProblemBanner error={error} />}
    </>
  );
}
