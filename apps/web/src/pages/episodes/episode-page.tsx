import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Answer } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import { artworkAddress } from '../../parts/artwork-address.ts';
import { Artwork } from '../../parts/artwork.tsx';
import { StateBadge } from '../../parts/badge.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { Card, Cards, Column, Pairs } from '../../parts/card.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Notes } from '../../parts/notes.tsx';
import { Page } from '../../parts/page.tsx';
import { ProblemPage } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Length, Time } from '../../parts/time.tsx';
import { zoneName } from '../../parts/format.ts';
import { usePlace } from '../../shell/place.ts';
import { episodePlace } from '../podcasts/episode-place.ts';
import { podcastQuery } from '../podcasts/podcast-queries.ts';
import { AudioAndBreaks } from './audio/audio-and-breaks.tsx';
import { episodeQuery, productionQuery } from './episode-queries.ts';
import { RecordingCard } from './recording-card.tsx';

type Episode = Answer<'/episodes/{id}'>;

const route = getRouteApi('/episodes/$episodeId');

function Meta({ episode }: { readonly episode: Episode }) {
  const { zone } = usePlace();
  const date = episode.published_at ?? episode.publish_at;
  const place = episodePlace(episode.season, episode.number);
  return (
    <>
      <StateBadge state={episode.state} />
      {place !== '' && <span>{place}</span>}
      {episode.duration_ms !== undefined && <Length ms={episode.duration_ms} />}
      {date !== undefined && (
        <span>
          <Time at={date} form="moment" /> {t('zone_time', { zone: zoneName(zone) })}
        </span>
      )}
      {episode.enclosure_url !== undefined && <a href={episode.enclosure_url}>{t('episode.listen')}</a>}
    </>
  );
}

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
  const { id: episodeId, title, current_production_id: productionId } = episode;
  const { data: podcast } = useQuery(podcastQuery(episode.podcast_id));
  const { data: production } = useQuery({
    ...productionQuery(productionId ?? ''),
    enabled: productionId !== undefined,
  });
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
  const durationMs = production?.audio_duration_ms ?? 0;
  if (production?.state !== 'encoded' || durationMs === 0) return around(undefined);
  const artworkUrl = artworkAddress(episode.artwork ?? podcast?.artwork, 512);
  const heard = { productionId: production.id, durationMs, title, artist: podcast?.title, artworkUrl };
  return <AudioAndBreaks {...{ episodeId, heard, around }} />;
}

function EpisodeDetails({ episode }: { readonly episode: Episode }) {
  const { data: podcast } = useQuery(podcastQuery(episode.podcast_id));
  const params = { podcastId: episode.podcast_id };
  return (
    <Page
      voice
      title={episode.title}
      crumbs={[
        <Link to="/podcasts">{t('nav.podcasts')}</Link>,
        <Link to="/podcasts/$podcastId" params={params}>
          {podcast?.title ?? t('podcasts.podcast')}
        </Link>,
      ]}
      picture={<Artwork of={episode.artwork ?? podcast?.artwork} title={episode.title} size="large" />}
      meta={<Meta episode={episode} />}
      actions={
        <>
          {episode.enclosure_url !== undefined && <CopyButton name="episode.copy_audio" text={episode.enclosure_url} />}
          <Link className={buttonClass()} to="/episodes/$episodeId/details" params={{ episodeId: episode.id }}>
            {t('episode.edit')}
          </Link>
        </>
      }
    >
      <Content episode={episode} />
    </Page>
  );
}

/** One episode as it is: its recording with its breaks, its notes, its facts. */
export function EpisodePage() {
  const { episodeId } = route.useParams();
  const { data: episode, error, refetch } = useQuery(episodeQuery(episodeId));
  if (episode) return <EpisodeDetails episode={episode} />;
  return error ? <ProblemPage error={error} onRetry={() => void refetch()} /> : <Skeleton lines={8} />;
}
