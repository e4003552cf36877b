import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Answer } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import { Card, Cards, Column, Pairs } from '../../parts/card.tsx';
import { Notes } from '../../parts/notes.tsx';
import { Time } from '../../parts/time.tsx';
import { podcastQuery } from '../podcasts/podcast-queries.ts';
import { AudioAndBreaks } from './audio/audio-and-breaks.tsx';
import { useHeard } from './audio/use-sound.ts';
import { episodeQuery } from './episode-queries.ts';
import { RecordingCard } from './recording-card.tsx';

type Episode = Answer<'/episodes/{id}'>;

const route = getRouteApi('/episodes/$episodeId');

const Facts = ({ episode }: { readonly episode: Episode }) => (
  <Card title={t('details.facts')}>
    <Pairs
      of={[
        [t('details.type'), t(`episode_type.${episode.type}`)],
        [t('details.season'), episode.season],
        [t('details.number'), episode.number],
        [t('details.author'), episode.author],
        [t('details.explicit'), episode.explicit === undefined ? undefined : t(episode.explicit ? 'yes' : 'no')],
        [t('episode.chapters'), episode.chapter_count],
        [t('episode.transcripts'), episode.transcript_count],
        [t('episode.breaks'), episode.marker_count],
        [t('details.website'), episode.link],
        [t('episode.guid'), episode.guid],
        [t('details.created'), <Time at={episode.created_at} form="moment" />],
        [t('details.updated'), <Time at={episode.updated_at} form="moment" />],
      ]}
    />
  </Card>
);

/** The recording to be heard, where there is one, and everything else about the episode. */
function Content({ episode }: { readonly episode: Episode }) {
  const { id: episodeId, current_production_id: productionId } = episode;
  const { data: podcast } = useQuery(podcastQuery(episode.podcast_id));
  const heard = useHeard(episode);
  const around = (breaks: ReactNode) => (
    <Cards>
      <Column>
        {breaks}
        <Card title={t('details.notes')}>
          {episode.description === undefined ? (
            <p>{t('details.no_notes')}</p>
          ) : (
            <Notes of={episode.description} lang={podcast?.language} />
          )}
        </Card>
      </Column>
      <Column>
        <RecordingCard productionId={productionId} />
        <Facts episode={episode} />
      </Column>
    </Cards>
  );
  if (!heard) return around(undefined);
  return <AudioAndBreaks {...{ episodeId, heard, around }} />;
}

/** An episode as it is: its recording with its breaks, its notes, its facts. */
export function EpisodePage() {
  const { episodeId } = route.useParams();
  const { data: episode } = useQuery(episodeQuery(episodeId));
  return episode && <Content episode={episode} />;
}
