import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { accountQuery, usageQuery } from './api/account.ts';
import { withTexts } from './messages/load-texts.ts';
import { parseAnalyticsSearch } from './pages/analytics/analytics-search.ts';
import { episodeQuery } from './pages/episodes/episode-queries.ts';
import { episodesQuery, podcastQuery, podcastsQuery } from './pages/podcasts/podcast-queries.ts';
import { parseDecisionSearch, parsePurpose, type Purpose } from './pages/ads/decisions/decision-search.ts';
import { parseTableSearch, type TableSearch } from './parts/table-rows.ts';

/** The places of the rail. A place stands there when its page exists. */
export const navigation = [
  { place: 'home', to: '/', name: 'nav.home' },
  { place: 'podcasts', to: '/podcasts', name: 'nav.podcasts' },
  { place: 'analytics', to: '/analytics', name: 'nav.analytics' },
] as const;

/** Places of advertising are those of a workspace: the rail chooses among them by the address (`shell/ad-places.tsx`). */
type Place = (typeof navigation)[number]['place'] | 'ads';

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The place of the rail to which the page belongs. */
    readonly place?: Place;
  }
}

/** What loaders get. They start queries and wait for none: a page shows what there is. */
export interface RouteContext {
  readonly queries: QueryClient;
}

export const rootRoute = createRootRouteWithContext<RouteContext>()();

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

/** Advertising of one workspace: all pages below follow its changes. */
const workspace = createRoute({
  getParentRoute: () => rootRoute,
  path: '/w/$ws',
  staticData: { place: 'ads' },
  component: lazyRouteComponent(
    withTexts('ads', () => import('./pages/ads/workspace-frame.tsx')),
    'WorkspaceFrame',
  ),
});

const reviews = createRoute({
  getParentRoute: () => workspace,
  path: '/review_tasks',
  staticData: { place: 'ads' },
  component: lazyRouteComponent(() => import('./pages/ads/reviews-page.tsx'), 'ReviewsPage'),
});

const review = createRoute({
  getParentRoute: () => workspace,
  path: '/review_tasks/$id',
  staticData: { place: 'ads' },
  component: lazyRouteComponent(() => import('./pages/ads/review-page.tsx'), 'ReviewPage'),
});

/** Decisions about ads: what they are searched by, and what for, stands in the address. Nothing is read on the way: each reading is recorded. */
const decisions = createRoute({
  getParentRoute: () => workspace,
  path: '/decisions',
  staticData: { place: 'ads' },
  validateSearch: parseDecisionSearch,
  component: lazyRouteComponent(
    withTexts('decisions', () => import('./pages/ads/decisions/decisions-page.tsx')),
    'DecisionsPage',
  ),
});

/** One decision, for a purpose; `line` is the line item that "Why not mine?" is asked about. */
const decision = createRoute({
  getParentRoute: () => workspace,
  path: '/decisions/$id',
  staticData: { place: 'ads' },
  validateSearch: (
    search: Readonly<Record<string, unknown>>,
  ): { readonly purpose?: Purpose; readonly line?: string } => {
    const [purpose, line] = [parsePurpose(search['purpose']), search['line']];
    return { ...(purpose && { purpose }), ...(typeof line === 'string' && /^li_[0-9a-z]{26}$/.test(line) && { line }) };
  },
  component: lazyRouteComponent(
    withTexts('decisions', () => import('./pages/ads/decisions/decision-page.tsx')),
    'DecisionPage',
  ),
});

// Finance: its lists and forms are those of every type, and so are the addresses of its resources.
const finance = createRoute({
  getParentRoute: () => workspace,
  path: '/finance',
  staticData: { place: 'ads' },
  component: lazyRouteComponent(
    withTexts('finance', () => import('./pages/finance/finance-page.tsx')),
    'FinancePage',
  ),
});

/** Ids in an address, as `campaign_id=cmp_…`: what a new resource belongs to. */
const parseIds = (search: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(search).filter((entry): entry is [string, string] => /^[a-z]+_[0-9a-z]{26}$/.test(String(entry[1]))),
  );

const newReportRun = createRoute({
  getParentRoute: () => workspace,
  path: '/report_runs/new',
  staticData: { place: 'ads' },
  validateSearch: parseIds,
  component: lazyRouteComponent(
    withTexts('finance', () => import('./pages/finance/new-run-page.tsx')),
    'NewRunPage',
  ),
});

const setup = createRoute({
  getParentRoute: () => workspace,
  path: '/setup',
  staticData: { place: 'ads' },
  component: lazyRouteComponent(() => import('./pages/ads/setup-page.tsx'), 'SetupPage'),
});

/** Every resource of a type, by the type's name: `line_items`. */
const resources = createRoute({
  getParentRoute: () => workspace,
  path: '/$type',
  staticData: { place: 'ads' },
  validateSearch: parseTableSearch,
  component: lazyRouteComponent(() => import('./pages/ads/list-page.tsx'), 'ListPage'),
});

/** A new resource; what it belongs to may stand in the address: `?campaign_id=cmp_…`. */
const newResource = createRoute({
  getParentRoute: () => workspace,
  path: '/$type/new',
  staticData: { place: 'ads' },
  validateSearch: parseIds,
  component: lazyRouteComponent(() => import('./pages/ads/command-page.tsx'), 'NewPage'),
});

/** One resource; of a reconciliation, `item` in its address is the item that is being decided. */
const resource = createRoute({
  getParentRoute: () => workspace,
  path: '/$type/$id',
  staticData: { place: 'ads' },
  validateSearch: ({
    item,
    ...search
  }: Readonly<Record<string, unknown>>): TableSearch & { readonly item?: string } => ({
    ...parseTableSearch(search),
    ...(typeof item === 'string' && { item }),
  }),
  component: lazyRouteComponent(() => import('./pages/ads/resource-page.tsx'), 'ResourcePage'),
});

/** One command about a resource: `line_item.amend`. */
const command = createRoute({
  getParentRoute: () => workspace,
  path: '/$type/$id/$command',
  staticData: { place: 'ads' },
  component: lazyRouteComponent(() => import('./pages/ads/command-page.tsx'), 'CommandPage'),
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
  workspace.addChildren([
    ...[reviews, review, decisions, decision, finance, newReportRun, setup],
    ...[resources, newResource, resource, command],
  ]),
]);

/** What every page shows. */
export const startShell = (queries: QueryClient): void => void queries.prefetchQuery(accountQuery);
