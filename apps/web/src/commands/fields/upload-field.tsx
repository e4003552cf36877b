import { FileText } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { privateSizeMax, sendPrivate } from '../../api/upload/send-private.ts';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { shareText } from '../../parts/format.ts';
import { ProblemBanner } from '../../parts/problem.tsx';
import { usePlace } from '../../shell/place.ts';
import { useFormContext, type FieldProps } from './context.ts';
import own from './fields.module.css';
import { Labelled } from './simple-fields.tsx';

/** A file of counts: it is sent as soon as it is chosen, and the form names its upload. */
export function UploadField(props: FieldProps) {
  const { workspace } = useFormContext();
  const { language } = usePlace();
  const [share, setShare] = useState<number>();
  const [fault, setFault] = useState<unknown>(null);
  const [isTooLarge, setTooLarge] = useState(false);
  const [name, setName] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  const sending = useRef<AbortController>(undefined);
  // The form may have changed while the file was on its way.
  const change = useRef(props.onChange);
  change.current = props.onChange;
  useEffect(() => () => sending.current?.abort(), []);
  const choose = async (file: File | undefined) => {
    sending.current?.abort();
    setFault(null);
    setName(file?.name);
    setShare(undefined);
    setTooLarge(file !== undefined && file.size > privateSizeMax);
    change.current(undefined);
    if (!file || file.size > privateSizeMax) return;
    const stop = new AbortController();
    sending.current = stop;
    const onProgress = (sent: number) => setShare(sent / Math.max(1, file.size));
    onProgress(0);
    try {
      const id = await sendPrivate(workspace.id, file, { signal: stop.signal, onProgress });
      if (!stop.signal.aborted) change.current(id);
    } catch (problem) {
      if (!stop.signal.aborted) setFault(problem);
    } finally {
      if (!stop.signal.aborted) setShare(undefined);
    }
  };
  const isThere = typeof props.value === 'string' && props.value !== '';
  return (
    <div>
      <Labelled of={props} hint={t(isTooLarge ? 'ads.file_too_large' : 'ads.file_choose_csv')}>
        {(control) => (
          <div className={own.file}>
            <input
              {...control}
              ref={input}
              className="hidden"
              type="file"
              accept=".csv,text/csv"
              onChange={({ target }) => void choose(target.files?.[0])}
            />
            <Button icon={FileText} tabIndex={-1} onClick={() => input.current?.click()}>
              {t('ads.file_choose')}
            </Button>
            {name !== undefined && <span>{name}</span>}
          </div>
        )}
      </Labelled>
      <p role="status" hidden={share === undefined && !isThere}>
        {share !== undefined && t('ads.sent', { percent: shareText(share, language) })}
        {share === undefined && isThere && t('ads.file_there')}
      </p>
      {fault !== null && <ProblemBanner error={fault} />}
    </div>
  );
}
