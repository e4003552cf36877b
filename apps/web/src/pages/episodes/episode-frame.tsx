import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useHasRole } from '../../api/me.ts';
import type { Answer } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import { Artwork } from '../../parts/artwork.tsx';
import { StateBadge } from '../../parts/badge.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { numberText, zoneName } from '../../parts/format.ts';
import { Page } from '../../parts/page.tsx';
import { player } from '../../parts/player/use-player.ts';
import { ProblemPage } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { Length, Time } from '../../parts/time.tsx';
import { usePlace } from '../../shell/place.ts';
import { episodePlace } from '../podcasts/episode-place.ts';
import { podcastQuery } from '../podcasts/podcast-queries.ts';
import { episodeQuery } from './episode-queries.ts';

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

function EpisodeTabs({ episode }: { readonly episode: Episode }) {
  const { language } = usePlace();
  const params = { episodeId: episode.id };
  const count = (of: number) => of > 0 && <small>{numberText(of, language)}</small>;
  return (
    <Tabs
      name={t('audio.tabs')}
      links={[
        <Link to="/episodes/$episodeId" params={params} activeOptions={{ exact: true }}>
          {t('audio.tab_audio')}
        </Link>,
        <Link to="/episodes/$episodeId/chapters" params={params}>
          {t('audio.tab_chapters')} {count(episode.chapter_count)}
        </Link>,
        <Link to="/episodes/$episodeId/transcripts" params={params}>
          {t('audio.tab_transcripts')} {count(episode.transcript_count)}
        </Link>,
        <Link to="/episodes/$episodeId/numbers" params={params}>
          {t('episode.numbers')}
        </Link>,
      ]}
    />
  );
}

function Frame({ episode }: { readonly episode: Episode }) {
  const { data: podcast } = useQuery(podcastQuery(episode.podcast_id));
  const mayEdit = useHasRole('owner', 'editor', 'scheduler', 'producer');
  // What is heard goes on over the tabs, and ends with the pages that can stop it.
  useEffect(() => player.pause, []);
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
          {mayEdit && (
            <Link className={buttonClass()} to="/episodes/$episodeId/details" params={{ episodeId: episode.id }}>
              {t('episode.edit')}
            </Link>
          )}
        </>
      }
    >
      <EpisodeTabs episode={episode} />
      <Outlet />
    </Page>
  );
}

/** One episode: its head, its tabs, and the tab that is open. */
export function EpisodeFrame() {
  const { episodeId } = route.useParams();
  const { data: episode, error, refetch } = useQuery(episodeQuery(episodeId));
  if (episode) return <Frame key={episodeId} episode={episode} />;
  return error ? <ProblemPage error={error} onRetry={() => void refetch()} /> : <Skeleton lines={8} />;
}
