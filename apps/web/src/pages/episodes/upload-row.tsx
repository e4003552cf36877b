import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useId, useSyncExternalStore } from 'react';
import { usageQuery } from '../../api/account.ts';
import { ApiProblem } from '../../api/problems.ts';
import { StoreFault } from '../../api/upload/put-part.ts';
import type { Upload } from '../../api/upload/queue.ts';
import { uploads } from '../../api/upload/uploads.ts';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { hoursText, lengthText, sizeText } from '../../parts/format.ts';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Time } from '../../parts/time.tsx';
import { showToast } from '../../parts/toast.tsx';
import { usePlace } from '../../shell/place.ts';
import { encodeAgain, followUploads, refusals } from './encode-sent.ts';
import styles from './upload-row.module.css';

/** The uploads of this browser; files that arrive are encoded from now on. */
export function useUploads(): readonly Upload[] {
  const queries = useQueryClient();
  useEffect(() => followUploads(queries), [queries]);
  return useSyncExternalStore(uploads.subscribe, uploads.current);
}

/** How far it is: `12 MB of 60 MB, 2.1 MB/s, 0:23 left`. */
function Progress({ upload: { sent, size, bytesPerSecond, secondsLeft } }: { readonly upload: Upload }) {
  const { language } = usePlace();
  const pace = bytesPerSecond !== undefined && t('upload.pace', { size: sizeText(bytesPerSecond, language) });
  const left = secondsLeft !== undefined && t('upload.left', { time: lengthText(secondsLeft * 1000) });
  const done = t('upload.progress', { sent: sizeText(sent, language), size: sizeText(size, language) });
  return <span>{[done, pace, left].filter(Boolean).join(', ')}</span>;
}

/** The plan has no encoding time left: how much there is, and when it returns. */
function NoTime() {
  const { language } = usePlace();
  const { data: usage } = useQuery(usageQuery);
  const left = usage?.encoding_left_ms;
  return (
    <p>
      {t('upload.no_time')}{' '}
      {usage && left !== null && left !== undefined && (
        <>
          {t('upload.time_left', { hours: hoursText(left, language) })} <Time at={usage.period_ends_at} form="moment" />
        </>
      )}
    </p>
  );
}

/** Why it does not go on, and what to do. `isTried`: it is tried again by itself. */
function Fault({ error, isTried }: { readonly error: unknown; readonly isTried: boolean }) {
  if (error instanceof StoreFault) {
    if (error.code === 'etag_hidden') return <p>{t('upload.etag_hidden')}</p>;
    return <p>{t(isTried ? 'upload.store_waits' : 'upload.store_away')}</p>;
  }
  if (error instanceof ApiProblem && error.status === 402) return <NoTime />;
  return <ProblemBanner error={error} />;
}

/** Chooses the file of an upload once more, where the browser has lost it. */
function ChooseAgain({ upload: { id, name, canReopen } }: { readonly upload: Upload }) {
  const field = useId();
  const goOn = async (file: File | undefined) => {
    if (file && !(await uploads.goOn(id, file))) showToast(t('upload.another_file', { name }));
  };
  if (canReopen) return <Button onClick={() => void uploads.reopen(id)}>{t('upload.go_on')}</Button>;
  return (
    <>
      <label htmlFor={field}>{t('upload.choose_again', { name })}</label>
      <input id={field} type="file" onChange={({ currentTarget }) => void goOn(currentTarget.files?.[0])} />
    </>
  );
}

/** One upload: what it is, how far it is, and what a person can do about it. */
export function UploadRow({ upload }: { readonly upload: Upload }) {
  const queries = useQueryClient();
  const refused = useSyncExternalStore(refusals.subscribe, refusals.current).get(upload.id);
  const { id, name, phase, sent, size } = upload;
  const error = upload.error ?? refused;
  const isTried = upload.error !== undefined && phase !== 'failed';
  const again = phase === 'failed' ? () => uploads.retry(id) : () => encodeAgain(upload, queries);
  return (
    <div className={styles.row}>
      <div className={styles.words}>
        <b>{name}</b>
        <span role="status">{t(`upload.phase_${phase}`)}</span>
      </div>
      <progress className={styles.bar} aria-label={name} max={size} value={sent} />
      <Progress upload={upload} />
      {error !== undefined && <Fault error={error} isTried={isTried} />}
      <div className={styles.actions}>
        {phase === 'choose_again' && <ChooseAgain upload={upload} />}
        {error !== undefined && !isTried && <Button onClick={again}>{t('retry')}</Button>}
        <Button kind="quiet" onClick={() => void uploads.stop(id)}>
          {t('upload.stop')}
        </Button>
      </div>
    </div>
  );
}
