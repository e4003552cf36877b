import { useNavigate } from '@tanstack/react-router';
import { Globe } from 'lucide-react';
import type { Answer } from '../../api/queries.ts';
import { useSend } from '../../api/send.ts';
import { t } from '../../messages/messages.ts';
import { StateBadge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ArchiveWay } from '../../parts/form/archive-way.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { showToast } from '../../parts/toast.tsx';
import { Way } from '../../parts/way.tsx';
import { ScheduleField } from './schedule-field.tsx';

type Episode = Answer<'/episodes/{id}'>;
interface OfEpisode {
  readonly episode: Episode;
  /** Whether text on the page is not saved yet: it would not be published. */
  readonly isUnsaved: boolean;
}

function PublishNow({ episode, isUnsaved }: OfEpisode) {
  const published = () => showToast(t('publication.published'));
  const { mutate, isPending, error } = useSend('post', '/episodes/{id}/publish', published);
  const publish = () => mutate({ path: { id: episode.id }, body: {} });
  return (
    <>
      <Way help={t(isUnsaved ? 'publish.save_first' : 'publication.publish_help')}>
        <Button icon={Globe} busy={isPending || isUnsaved} onClick={publish}>
          {t('publish.now')}
        </Button>
      </Way>
      {error !== null && <ProblemBanner error={error} />}
    </>
  );
}

function TakeOut({ episode }: Pick<OfEpisode, 'episode'>) {
  const isOut = () => showToast(t('publication.out'));
  const { mutate, isPending, error } = useSend('post', '/episodes/{id}/unpublish', isOut);
  const isPlanned = episode.state === 'scheduled';
  const takeOut = () => mutate({ path: { id: episode.id }, body: {} });
  return (
    <>
      <Way help={t(isPlanned ? 'publication.cancel_help' : 'publication.unpublish_help')}>
        <Button busy={isPending} onClick={takeOut}>
          {t(isPlanned ? 'publication.cancel' : 'publication.unpublish')}
        </Button>
      </Way>
      {error !== null && <ProblemBanner error={error} />}
    </>
  );
}

function Archive({ episode }: Pick<OfEpisode, 'episode'>) {
  const navigate = useNavigate();
  const end = useSend('delete', '/episodes/{id}', () => {
    showToast(t('end.archived'));
    return navigate({ to: '/podcasts/$podcastId', params: { podcastId: episode.podcast_id }, ignoreBlocker: true });
  });
  return (
    <ArchiveWay
      act={end}
      onGo={() => end.mutate({ path: { id: episode.id } })}
      title="publication.archive"
      name={episode.title}
      help={t('publication.archive_help')}
    />
  );
}

/** Whether listeners get an episode, and from when: now, at a time, no longer, or never again. */
export function PublicationCard({ episode, isUnsaved }: OfEpisode) {
  const { state } = episode;
  const mayPublish = state === 'draft' || state === 'scheduled' || state === 'unpublished';
  return (
    <Card title={t('publication.title')} end={<StateBadge state={state} />}>
      {mayPublish && <PublishNow episode={episode} isUnsaved={isUnsaved} />}
      {mayPublish && <ScheduleField key={episode.publish_at} episode={episode} />}
      {(state === 'published' || state === 'scheduled') && <TakeOut episode={episode} />}
      {state !== 'archived' && <Archive episode={episode} />}
    </Card>
  );
}
