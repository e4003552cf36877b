import { useNavigate } from '@tanstack/react-router';
import type { Answer } from '../../api/queries.ts';
import { useSend } from '../../api/send.ts';
import { t } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ArchiveWay } from '../../parts/form/archive-way.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { showToast } from '../../parts/toast.tsx';
import { Way } from '../../parts/way.tsx';

/** Taking a podcast offline, which has a way back, and ending it, which has none. */
export function EndCard({ podcast }: { readonly podcast: Answer<'/podcasts/{id}'> }) {
  const navigate = useNavigate();
  const offline = useSend('post', '/podcasts/{id}/unpublish', () => showToast(t('end.offline_done')));
  const end = useSend('delete', '/podcasts/{id}', () => {
    showToast(t('end.archived'));
    return navigate({ to: '/podcasts', ignoreBlocker: true });
  });
  const path = { id: podcast.id };
  const takeOffline = () => offline.mutate({ path, body: {} });
  return (
    <Card title={t('end.title')}>
      {podcast.state === 'published' && (
        <Way help={t('end.offline_help')}>
          <Button busy={offline.isPending} onClick={takeOffline}>
            {t('end.offline')}
          </Button>
        </Way>
      )}
      {offline.error !== null && <ProblemBanner error={offline.error} />}
      <ArchiveWay
        act={end}
        onGo={() => end.mutate({ path })}
        title="end.archive_podcast"
        name={podcast.title}
        help={t('end.archive_podcast_help')}
      />
    </Card>
  );
}
