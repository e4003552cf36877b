import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { asProblem } from '../../api/problems.ts';
import { get, type Answer } from '../../api/queries.ts';
import { useSend } from '../../api/send.ts';
import { t } from '../../messages/messages.ts';
import { Button, buttonClass } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { numberText, sizeText } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { usePlace } from '../../shell/place.ts';
import styles from './analytics.module.css';

const path = '/podcasts/{id}/analytics/legacy_export';
/** How often an export that is prepared is asked for, in milliseconds. */
const pollMs = 1500;

function Prepared({ found: { state, url, size, row_count: rows, problem } }: { readonly found: Answer<typeof path> }) {
  const { language } = usePlace();
  if (state === 'preparing')
    return (
      <p role="status">
        <progress aria-label={t('analytics.export_preparing')} /> {t('analytics.export_preparing')}
      </p>
    );
  if (state !== 'ready' || url === undefined)
    return (
      <p role="status">
        {t('analytics.export_failed')} {problem && <span lang="en">{problem.detail}</span>}
      </p>
    );
  return (
    <p>
      <a className={buttonClass()} href={url} download>
        <Icon of={Download} /> {t('analytics.export_file')}
      </a>{' '}
      {t('analytics.export_of', { rows: numberText(rows ?? 0, language), size: sizeText(size ?? 0, language) })}
    </p>
  );
}

/** The downloads of each episode on each day as one file. It is prepared when somebody asks, and asked for from then on: before there may be none. */
export function ExportCard({ podcastId }: { readonly podcastId: string }) {
  const [isAsked, setAsked] = useState(false);
  const prepare = useSend('post', path);
  const query = useQuery({
    ...get(path, { path: { id: podcastId } }),
    enabled: isAsked,
    refetchInterval: ({ state: { data } }) => (data?.data.state === 'preparing' ? pollMs : false),
  });
  // One at a time: whoever asks while another is prepared waits for that one.
  const isOther = prepare.error !== null && asProblem(prepare.error).status === 409;
  const ask = () => prepare.mutate({ path: { id: podcastId } }, { onSettled: () => setAsked(true) });
  const error = isOther ? query.error : (prepare.error ?? query.error);
  return (
    <Card title={t('analytics.export')}>
      <div className={styles.export}>
        <p>{t('analytics.export_help')}</p>
        {error !== null && <ProblemBanner error={error} />}
        {query.data && !prepare.isPending && <Prepared found={query.data} />}
        {query.data?.state !== 'preparing' && (
          <div>
            <Button busy={prepare.isPending} onClick={ask}>
              {t('analytics.export_prepare')}
            </Button>
          </div>
        )}
      </div>
    </Card>
  );
}
