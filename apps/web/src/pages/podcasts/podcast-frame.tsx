import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { useHasRole } from '../../api/me.ts';
import type { Answer } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import { Artwork } from '../../parts/artwork.tsx';
import { StateBadge } from '../../parts/badge.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Page } from '../../parts/page.tsx';
import { ProblemPage } from '../../parts/problem.tsx';
import { buttonClass } from '../../parts/button.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { languageName, numberText } from '../../parts/format.ts';
import { usePlace } from '../../shell/place.ts';
import { PodcastUploads } from '../episodes/podcast-uploads.tsx';
import { isCounted, overviewQuery, podcastQuery } from './podcast-queries.ts';

const route = getRouteApi('/podcasts/$podcastId');

interface Counted {
  readonly podcast: Answer<'/podcasts/{id}'>;
  readonly episodes: number | undefined;
}

function Meta({ podcast, episodes }: Counted) {
  const { language } = usePlace();
  return (
    <>
      <StateBadge state={podcast.state} />
      {episodes !== undefined && (
        <span>{t('podcast.episodes', { episodes, shown: numberText(episodes, language) })}</span>
      )}
      <span>{languageName(podcast.language, language)}</span>
      {podcast.author !== undefined && <span>{podcast.author}</span>}
    </>
  );
}

function PodcastTabs({ podcast, episodes }: Counted) {
  const { language } = usePlace();
  const maySet = useHasRole('owner', 'editor', 'scheduler');
  const params = { podcastId: podcast.id };
  return (
    <Tabs
      name={t('podcast.tabs')}
      links={[
        <Link to="/podcasts/$podcastId" params={params} activeOptions={{ exact: true, includeSearch: false }}>
          {t('podcast.tab_episodes')} {episodes !== undefined && <small>{numberText(episodes, language)}</small>}
        </Link>,
        <Link to="/podcasts/$podcastId/analytics" params={params} activeOptions={{ includeSearch: false }}>
          {t('nav.analytics')}
        </Link>,
        <Link to="/podcasts/$podcastId/details" params={params}>
          {t('podcast.tab_details')}
        </Link>,
        <Link to="/podcasts/$podcastId/feed" params={params}>
          {t('podcast.tab_feed')}
        </Link>,
        <Link to="/podcasts/$podcastId/website" params={params}>
          {t('podcast.tab_website')}
        </Link>,
        <Link to="/podcasts/$podcastId/people" params={params}>
          {t('podcast.tab_people')}
        </Link>,
        ...(podcast.import
          ? [
              <Link to="/podcasts/$podcastId/import" params={params}>
                {t('podcast.tab_import')}
              </Link>,
            ]
          : []),
        ...(maySet
          ? [
              <Link to="/podcasts/$podcastId/settings" params={params}>
                {t('podcast.tab_settings')}
              </Link>,
            ]
          : []),
      ]}
    />
  );
}

/** One podcast: its head, its tabs, and the tab that is open. */
export function PodcastFrame() {
  const { podcastId } = route.useParams();
  const mayAdd = useHasRole('owner', 'editor');
  const { data: podcast, error, refetch } = useQuery(podcastQuery(podcastId));
  const { data: overview } = useQuery({
    ...overviewQuery(podcastId),
    enabled: podcast !== undefined && isCounted(podcast),
  });
  if (!podcast) return error ? <ProblemPage error={error} onRetry={() => void refetch()} /> : <Skeleton lines={8} />;
  const episodes = overview && overview.episodes.published + overview.episodes.scheduled + overview.episodes.drafts;
  const params = { podcastId };
  return (
    <Page
      voice
      title={podcast.title}
      crumbs={[<Link to="/podcasts">{t('nav.podcasts')}</Link>]}
      picture={<Artwork of={podcast.artwork} title={podcast.title} size="large" />}
      meta={<Meta podcast={podcast} episodes={episodes} />}
      actions={
        <>
          <CopyButton name="podcast.copy_feed" text={podcast.feed_url} />
          {mayAdd && (
            <Link className={buttonClass({ kind: 'primary' })} to="/podcasts/$podcastId/new" params={params}>
              {t('new.title')}
            </Link>
          )}
        </>
      }
    >
      <PodcastTabs podcast={podcast} episodes={episodes} />
      <PodcastUploads podcastId={podcastId}>
        <Outlet />
      </PodcastUploads>
    </Page>
  );
}
