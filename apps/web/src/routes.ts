import type { QueryClient } from '@tanstack/react-query';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { accountQuery, usageQuery } from './api/account.ts';
import { withTexts } from './messages/load-texts.ts';
import { parseAnalyticsSearch } from './pages/analytics/analytics-search.ts';
import { episodeQuery } from './pages/episodes/episode-queries.ts';
import { episodesQuery, podcastQuery, podcastsQuery } from './pages/podcasts/podcast-queries.ts';
import { parseTableSearch } from './parts/table-rows.ts';
import { rootRoute } from './root-route.ts';
import { workspaceRoutes } from './workspace-routes.ts';

const home = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  staticData: { place: 'home' },
  loader: ({ context: { queries } }) => {
    void queries.prefetchQuery(podcastsQuery);
    void queries.prefetchQuery(usageQuery);
  },
  component: lazyRouteComponent(() => import('./pages/home/home-page.tsx'), 'HomePage'),
});

const podcasts = createRoute({
  getParentRoute: () => rootRoute,
  path: '/podcasts',
  staticData: { place: 'podcasts' },
  validateSearch: parseTableSearch,
  loader: ({ context: { queries } }) => void queries.prefetchQuery(podcastsQuery),
  component: lazyRouteComponent(() => import('./pages/podcasts/podcasts-page.tsx'), 'PodcastsPage'),
});

const newPodcast = createRoute({
  getParentRoute: () => rootRoute,
  path: '/podcasts/new',
  staticData: { place: 'podcasts' },
  component: lazyRouteComponent(() => import('./pages/podcasts/new-podcast-page.tsx'), 'NewPodcastPage'),
});

const importPodcast = createRoute({
  getParentRoute: () => rootRoute,
  path: '/podcasts/import',
  staticData: { place: 'podcasts' },
  component: lazyRouteComponent(
    withTexts('feed', () => import('./pages/podcasts/import-page.tsx')),
    'ImportPage',
  ),
});

/** The head and the tabs of one podcast. */
const podcast = createRoute({
  getParentRoute: () => rootRoute,
  path: '/podcasts/$podcastId',
  staticData: { place: 'podcasts' },
  loader: ({ context: { queries }, params: { podcastId } }) => void queries.prefetchQuery(podcastQuery(podcastId)),
  component: lazyRouteComponent(() => import('./pages/podcasts/podcast-frame.tsx'), 'PodcastFrame'),
});

const episodes = createRoute({
  getParentRoute: () => podcast,
  path: '/',
  validateSearch: parseTableSearch,
  loader: ({ context: { queries }, params: { podcastId } }) => void queries.prefetchQuery(episodesQuery(podcastId)),
  component: lazyRouteComponent(() => import('./pages/podcasts/episodes-page.tsx'), 'EpisodesPage'),
});

const podcastDetails = createRoute({
  getParentRoute: () => podcast,
  path: '/details',
  component: lazyRouteComponent(() => import('./pages/podcasts/podcast-details-page.tsx'), 'PodcastDetailsPage'),
});

const podcastFeed = createRoute({
  getParentRoute: () => podcast,
  path: '/feed',
  component: lazyRouteComponent(
    withTexts('feed', () => import('./pages/podcasts/feed-page.tsx')),
    'FeedPage',
  ),
});

const podcastAnalytics = createRoute({
  getParentRoute: () => podcast,
  path: '/analytics',
  validateSearch: parseAnalyticsSearch,
  component: lazyRouteComponent(
    withTexts('analytics', () => import('./pages/analytics/podcast-analytics-page.tsx')),
    'PodcastAnalyticsPage',
  ),
});

/** All podcasts side by side. */
const analytics = createRoute({
  getParentRoute: () => rootRoute,
  path: '/analytics',
  staticData: { place: 'analytics' },
  validateSearch: parseAnalyticsSearch,
  loader: ({ context: { queries } }) => void queries.prefetchQuery(podcastsQuery),
  component: lazyRouteComponent(
    withTexts('analytics', () => import('./pages/analytics/analytics-page.tsx')),
    'AnalyticsPage',
  ),
});

/** What finished months were. */
const reports = createRoute({
  getParentRoute: () => rootRoute,
  path: '/analytics/reports',
  staticData: { place: 'analytics' },
  loader: ({ context: { queries } }) => void queries.prefetchQuery(podcastsQuery),
  component: lazyRouteComponent(
    withTexts('analytics', () => import('./pages/analytics/reports-page.tsx')),
    'ReportsPage',
  ),
});

const podcastPeople = createRoute({
  getParentRoute: () => podcast,
  path: '/people',
  component: lazyRouteComponent(
    withTexts('people', () => import('./pages/podcasts/people-page.tsx')),
    'PeoplePage',
  ),
});

const podcastWebsite = createRoute({
  getParentRoute: () => podcast,
  path: '/website',
  loader: ({ context: { queries }, params: { podcastId } }) => void queries.prefetchQuery(episodesQuery(podcastId)),
  component: lazyRouteComponent(
    withTexts('site', () => import('./pages/podcasts/website-page.tsx')),
    'WebsitePage',
  ),
});

const importReport = createRoute({
  getParentRoute: () => podcast,
  path: '/import',
  validateSearch: parseTableSearch,
  component: lazyRouteComponent(
    withTexts('feed', () => import('./pages/podcasts/import-report-page.tsx')),
    'ImportReportPage',
  ),
});

const podcastSettings = createRoute({
  getParentRoute: () => podcast,
  path: '/settings',
  component: lazyRouteComponent(
    withTexts('sound', () => import('./pages/podcasts/podcast-settings-page.tsx')),
    'PodcastSettingsPage',
  ),
});

/** A new episode; `episode` in its address is the draft, from the first file on. */
const newEpisode = createRoute({
  getParentRoute: () => rootRoute,
  path: '/podcasts/$podcastId/new',
  staticData: { place: 'podcasts' },
  validateSearch: ({ episode: id }: Readonly<Record<string, unknown>>): { readonly episode?: string } =>
    typeof id === 'string' ? { episode: id } : {},
  loader: ({ context: { queries }, params: { podcastId } }) => void queries.prefetchQuery(podcastQuery(podcastId)),
  component: lazyRouteComponent(() => import('./pages/episodes/new-episode-page.tsx'), 'NewEpisodePage'),
});

/** The head and the tabs of one episode. */
const episode = createRoute({
  getParentRoute: () => rootRoute,
  path: '/episodes/$episodeId',
  staticData: { place: 'podcasts' },
  loader: ({ context: { queries }, params: { episodeId } }) => void queries.prefetchQuery(episodeQuery(episodeId)),
  component: lazyRouteComponent(
    withTexts('audio', () => import('./pages/episodes/episode-frame.tsx')),
    'EpisodeFrame',
  ),
});

const episodeAudio = createRoute({
  getParentRoute: () => episode,
  path: '/',
  component: lazyRouteComponent(
    withTexts('audio', () => import('./pages/episodes/episode-page.tsx')),
    'EpisodePage',
  ),
});

const episodeChapters = createRoute({
  getParentRoute: () => episode,
  path: '/chapters',
  component: lazyRouteComponent(
    withTexts('audio', () => import('./pages/episodes/audio/chapters-page.tsx')),
    'ChaptersPage',
  ),
});

const episodeTranscripts = createRoute({
  getParentRoute: () => episode,
  path: '/transcripts',
  component: lazyRouteComponent(
    withTexts('audio', () => import('./pages/episodes/audio/transcripts-page.tsx')),
    'TranscriptsPage',
  ),
});

const episodeNumbers = createRoute({
  getParentRoute: () => episode,
  path: '/numbers',
  validateSearch: parseAnalyticsSearch,
  component: lazyRouteComponent(
    withTexts('analytics', () => import('./pages/analytics/episode-numbers-page.tsx')),
    'EpisodeNumbersPage',
  ),
});

const episodeDetails = createRoute({
  getParentRoute: () => rootRoute,
  path: '/episodes/$episodeId/details',
  staticData: { place: 'podcasts' },
  loader: ({ context: { queries }, params: { episodeId } }) => void queries.prefetchQuery(episodeQuery(episodeId)),
  component: lazyRouteComponent(() => import('./pages/episodes/episode-details-page.tsx'), 'EpisodeDetailsPage'),
});

/** Every page of the console. */
export const routeTree = rootRoute.addChildren([
  home,
  podcasts,
  newPodcast,
  importPodcast,
  analytics,
  reports,
  podcast.addChildren([
    episodes,
    podcastAnalytics,
    podcastDetails,
    podcastFeed,
    podcastPeople,
    podcastWebsite,
    importReport,
    podcastSettings,
  ]),
  newEpisode,
  episode.addChildren([episodeAudio, episodeChapters, episodeTranscripts, episodeNumbers]),
  episodeDetails,
  workspaceRoutes,
]);

/** What every page shows. */
export const startShell = (queries: QueryClient): void => void queries.prefetchQuery(accountQuery);
