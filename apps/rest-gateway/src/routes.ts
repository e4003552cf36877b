import { productCatalog } from '@longwave/command-catalog';
import { readAccount, readUsage } from './account/account-routes.ts';
import { keys } from './account/key-routes.ts';
import { members } from './account/member-routes.ts';
import { readOperation } from './account/operation-routes.ts';
import { podcastAchievements } from './analytics/achievement-routes.ts';
import {
  episodeAnalytics,
  episodeListenersAnalytics,
  podcastAdsAnalytics,
  podcastAnalytics,
  podcastEpisodesAnalytics,
  podcastListenersAnalytics,
} from './analytics/analytics-routes.ts';
import { analyticsEpisodes } from './analytics/episode-totals-routes.ts';
import { listenersOverTime, podcastsCategories } from './analytics/insight-routes.ts';
import { readLegacyExport, startLegacyExport } from './analytics/legacy-export-routes.ts';
import { podcastOverview } from './analytics/overview-routes.ts';
import { analyticsReports, analyticsReportsArchives } from './analytics/report-routes.ts';
import { readBatchState, readLatestBatch, revertBatch, startBatch } from './batch-encodings/batch-encoding-routes.ts';
import { statisticsTwin } from './docs/deprecation.ts';
import { episodeContents } from './episodes/episode-content-routes.ts';
import { previewEpisode } from './episodes/preview-route.ts';
import { registerMediaClip } from './media-clips/media-clip-routes.ts';
import { checkFeed, publishPodcast } from './podcasts/feed-check-route.ts';
import { podcastImport, previewImport } from './podcasts/import-routes.ts';
import { collaborators, templatePart } from './podcasts/podcast-routes.ts';
import {
  createProduction,
  followProduction,
  readWaveform,
  reviseProduction,
  startProduction,
  stopProduction,
} from './productions/production-routes.ts';
import { change, create, list, read, remove } from './resource-routes.ts';
import type { Route } from './route.ts';
import { webhooks } from './webhooks/webhook-routes.ts';
import {
  abortUpload,
  listUploads,
  readUpload,
  signCompletion,
  signPart,
  startUpload,
} from './uploads/upload-routes.ts';

/** Numbers of the audience; each also answers at its older `/statistics` path. */
const analyticsRoutes: readonly Route[] = [
  podcastAnalytics('/podcasts/{id}/analytics'),
  podcastEpisodesAnalytics('/podcasts/{id}/analytics/episodes'),
  podcastListenersAnalytics('/podcasts/{id}/analytics/listeners'),
  startLegacyExport('/podcasts/{id}/analytics/legacy_export'),
  readLegacyExport('/podcasts/{id}/analytics/legacy_export'),
  episodeAnalytics('/episodes/{id}/analytics'),
  analyticsReports('/analytics/reports'),
  analyticsReportsArchives('/analytics/reports_archives'),
];

/** Everything about the audience. */
const audienceRoutes: readonly Route[] = [
  ...analyticsRoutes,
  ...analyticsRoutes.map(statisticsTwin),
  podcastAdsAnalytics('/podcasts/{id}/analytics/ads'),
  episodeListenersAnalytics('/episodes/{id}/analytics/listeners'),
  analyticsEpisodes('/analytics/episodes'),
  podcastAchievements('/podcasts/{id}/achievements'),
  podcastOverview('/podcasts/{id}/overview'),
  listenersOverTime('/podcasts/{id}/insights/listeners_over_time'),
  podcastsCategories('/podcasts/{id}/insights/podcasts_categories'),
];

/** REST API v1: route → command or query. Everything else (checks, OpenAPI, 405) is derived from this table. */
export const routes: readonly Route[] = [
  list('/podcasts', 'podcasts'),
  create('/podcasts', 'podcast.create'),
  create('/podcasts/import', 'podcast.import_feed'),
  previewImport('/podcasts/import/preview'),
  read('/podcasts/{id}', 'podcasts'),
  change('PUT', '/podcasts/{id}', 'podcast.revise'),
  remove('/podcasts/{id}', 'podcast.archive'),
  publishPodcast('/podcasts/{id}/publish'),
  change('POST', '/podcasts/{id}/unpublish', 'podcast.unpublish'),
  change('POST', '/podcasts/{id}/redirect', 'podcast.redirect_feed'),
  ...podcastImport('/podcasts/{id}/import'),
  checkFeed('/podcasts/{id}/feed_check'),
  ...templatePart('/podcasts/{id}/intro', 'intro'),
  ...templatePart('/podcasts/{id}/outro', 'outro'),
  ...collaborators('/podcasts/{id}/collaborators'),
  list('/podcasts/{id}/episodes', 'episodes', { type: 'podcasts', link: 'podcast', from: 'path', field: 'id' }),
  create('/podcasts/{id}/episodes', 'episode.create', { type: 'podcasts', attribute: 'podcast_id' }),

  read('/episodes/{id}', 'episodes'),
  change('PUT', '/episodes/{id}', 'episode.revise'),
  remove('/episodes/{id}', 'episode.archive'),
  change('POST', '/episodes/{id}/publish', 'episode.publish'),
  change('POST', '/episodes/{id}/schedule', 'episode.schedule'),
  change('POST', '/episodes/{id}/unpublish', 'episode.unpublish'),
  ...episodeContents('/episodes/{id}'),
  previewEpisode('/episodes/{id}/preview'),

  startUpload('/uploads'),
  listUploads('/uploads'),
  readUpload('/uploads/{id}'),
  abortUpload('/uploads/{id}'),
  signPart('/uploads/part_url'),
  signCompletion('/uploads/complete_multipart_url'),

  list('/productions', 'productions', { type: 'episodes', link: 'episode', from: 'query', field: 'episode_id' }),
  createProduction('/productions'),
  read('/productions/{id}', 'productions'),
  reviseProduction('/productions/{id}'),
  remove('/productions/{id}', 'production.delete'),
  startProduction('/productions/{id}/start'),
  stopProduction('/productions/{id}/stop'),
  readWaveform('/productions/{id}/waveform'),
  followProduction('/productions/{id}/events'),

  list('/media_clips', 'media_clips', { type: 'episodes', link: 'episode', from: 'query', field: 'episode_id' }),
  registerMediaClip('/media_clips'),
  read('/media_clips/{id}', 'media_clips'),
  remove('/media_clips/{id}', 'media_clip.delete', productCatalog.commands['media_clip.delete'].changes),

  readLatestBatch('/batch_encodings'),
  startBatch('/batch_encodings'),
  readBatchState('/batch_encodings/state'),
  revertBatch('/batch_encodings/{id}/revert'),
  change('POST', '/batch_encodings/{id}/cancel', 'batch_encoding.cancel'),

  ...webhooks('/webhook_endpoints'),

  ...audienceRoutes.map((route): Route => ({ ...route, scope: 'api:analytics.read' })),

  readAccount('/account'),
  readUsage('/account/usage'),
  ...members('/account/members'),
  ...keys('/account/keys'),
  readOperation('/operations/{id}'),
];
