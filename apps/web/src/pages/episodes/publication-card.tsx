import { useNavigate } from '@tanstack/react-router';
import { Globe } from 'lucide-react';
import { useState } from 'react';
import type { Answer } from '../../api/queries.ts';
import { useSend } from '../../api/send.ts';
import { t } from '../../messages/messages.ts';
import { StateBadge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { TypedDialog } from '../../parts/form/typed-dialog.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { showToast } from '../../parts/toast.tsx';
import { ScheduleField } from './schedule-field.tsx';
import styles from './episode-details-page.module.css';

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
      <div className={styles.way}>
        <p>{t(isUnsaved ? 'publish.save_first' : 'publication.publish_help')}</p>
        <Button icon={Globe} busy={isPending || isUnsaved} onClick={publish}>
          {t('publish.now')}
        </Button>
      </div>
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
      <div className={styles.way}>
        <p>{t(isPlanned ? 'publication.cancel_help' : 'publication.unpublish_help')}</p>
        <Button busy={isPending} onClick={takeOut}>
          {t(isPlanned ? 'publication.cancel' : 'publication.unpublish')}
        </Button>
      </div>
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
  const [isAsking, setAsking] = useState(false);
  const close = () => {
    setAsking(false);
    end.reset();
  };
  return (
    <>
      <div className={styles.way}>
        <p>{t('publication.archive_help')}</p>
        <Button kind="danger" onClick={() => setAsking(true)}>
          {t('end.archive')}
        </Button>
      </div>
      <TypedDialog
        isOpen={isAsking}
        onClose={close}
        onGo={() => end.mutate({ path: { id: episode.id } })}
        act={end}
        title="publication.archive"
        name={episode.title}
        help={t('publication.archive_help')}
        goes="end.archive"
      />
    </>
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
