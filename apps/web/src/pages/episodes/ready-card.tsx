import { Link } from '@tanstack/react-router';
import { Check, Circle } from 'lucide-react';
import type { Answer, Item } from '../../api/queries.ts';
import { useSend } from '../../api/send.ts';
import type { Upload } from '../../api/upload/queue.ts';
import { uploads } from '../../api/upload/uploads.ts';
import { t } from '../../messages/messages.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button, buttonClass } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { missingToPublish } from './missing-to-publish.ts';
import styles from './ready-card.module.css';
import { useEncoding } from './use-encoding.ts';

type Episode = Answer<'/episodes/{id}'>;
type Production = Item<'/productions'>;

/** How far the encoding is; what the encoder found when it failed, and how to begin again. */
export function EncodingCard({
  production: { id = '', state = 'initial', problem },
}: {
  readonly production: Production;
}) {
  const { progress } = useEncoding(state === 'encoding' ? id : undefined);
  const start = useSend('post', '/productions/{id}/start');
  return (
    <Card title={t('recording.title')}>
      <div className={styles.list}>
        <Badge tone={state === 'error' ? 'bad' : state === 'encoded' ? 'good' : 'tide'} name={`production.${state}`} />
        {state === 'encoding' && (
          <progress className={styles.bar} aria-label={t('production.encoding')} value={progress} />
        )}
        {state === 'error' && (
          <>
            {problem && <p lang="en">{problem.detail}</p>}
            <p>{t('new.failed_help')}</p>
          </>
        )}
        {start.error && <ProblemBanner error={start.error} />}
        {state === 'initial' && (
          <Button busy={start.isPending} onClick={() => start.mutate({ path: { id }, body: {} })}>
            {t('new.encode')}
          </Button>
        )}
      </div>
    </Card>
  );
}

/** Asks that the episode is published as soon as it is encoded: kept with the upload until the encoding starts, then with the production. */
function usePublishWhenReady(production: Production | undefined, upload: Upload | undefined) {
  const send = useSend('put', '/productions/{id}');
  const change = (publish: boolean) => {
    if (upload) void uploads.setPublish(upload.id, publish);
    else if (production?.id !== undefined)
      send.mutate({ path: { id: production.id }, body: { publication_flag: publish } });
  };
  return { isWished: upload?.publish ?? production?.publication_flag ?? false, change, error: send.error };
}

/** What is missing to publish, and publishing: now, or as soon as the rest is there. */
export function ReadyCard({
  episode,
  production,
  upload,
}: {
  readonly episode: Episode;
  readonly production: Production | undefined;
  readonly upload: Upload | undefined;
}) {
  const { isWished, change, error: notChanged } = usePublishWhenReady(production, upload);
  const publish = useSend('post', '/episodes/{id}/publish');
  const missing = missingToPublish(episode, production, upload);
  const isPublished = episode.state === 'published';
  const error = notChanged ?? publish.error;
  return (
    <Card title={t('new.ready')}>
      <div className={styles.list}>
        <ul className={styles.points}>
          {missing.map(({ point, isDone }) => (
            <li key={point}>
              <Icon of={isDone ? Check : Circle} />
              {t(`new.point_${point}`)} <small>{t(isDone ? 'new.done' : 'new.missing')}</small>
            </li>
          ))}
        </ul>
        {error && <ProblemBanner error={error} />}
        {isPublished ? (
          <Link
            className={buttonClass({ kind: 'primary' })}
            to="/episodes/$episodeId"
            params={{ episodeId: episode.id }}
          >
            {t('new.published')}
          </Link>
        ) : production?.state === 'encoded' ? (
          <Button
            kind="primary"
            busy={publish.isPending}
            onClick={() => publish.mutate({ path: { id: episode.id }, body: {} })}
          >
            {t('new.publish_now')}
          </Button>
        ) : (
          <label className={styles.check}>
            <input
              type="checkbox"
              checked={isWished}
              disabled={!upload && !production}
              onChange={({ currentTarget }) => change(currentTarget.checked)}
            />
            {t('new.publish_when_ready')}
          </label>
        )}
      </div>
    </Card>
  );
}
