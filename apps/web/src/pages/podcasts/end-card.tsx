import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Answer } from '../../api/queries.ts';
import { useSend } from '../../api/send.ts';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { TypedDialog } from '../../parts/form/typed-dialog.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { showToast } from '../../parts/toast.tsx';
import styles from './podcast-settings-page.module.css';

/** Taking a podcast offline, which has a way back, and ending it, which has none. */
export function EndCard({ podcast }: { readonly podcast: Answer<'/podcasts/{id}'> }) {
  const navigate = useNavigate();
  const offline = useSend('post', '/podcasts/{id}/unpublish', () => showToast(t('end.offline_done')));
  const end = useSend('delete', '/podcasts/{id}', () => {
    showToast(t('end.archived'));
    return navigate({ to: '/podcasts', ignoreBlocker: true });
  });
  const [isAsking, setAsking] = useState(false);
  const path = { id: podcast.id };
  const takeOffline = () => offline.mutate({ path, body: {} });
  return (
    <Card title={t('end.title')}>
      {podcast.state === 'published' && (
        <div className={styles.way}>
          <p>{t('end.offline_help')}</p>
          <Button busy={offline.isPending} onClick={takeOffline}>
            {t('end.offline')}
          </Button>
        </div>
      )}
      {offline.error !== null && <ProblemBanner error={offline.error} />}
      <div className={styles.way}>
        <p>{t('end.archive_podcast_help')}</p>
        <Button kind="danger" onClick={() => setAsking(true)}>
          {t('end.archive')}
        </Button>
      </div>
      <TypedDialog
        isOpen={isAsking}
        onClose={() => {
          setAsking(false);
          end.reset();
        }}
        onGo={() => end.mutate({ path })}
        act={end}
        title="end.archive_podcast"
        name={podcast.title}
        help={t('end.archive_podcast_help')}
        goes="end.archive"
      />
    </Card>
  );
}
