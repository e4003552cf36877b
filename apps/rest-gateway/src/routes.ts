import { readAccount, readOperation } from './account-routes.ts';
import { podcastAnalytics } from './analytics/analytics-routes.ts';
import { createProduction, followProduction, startProduction } from './productions/production-routes.ts';
import { change, create, list, read } from './resource-routes.ts';
import type { Route } from './route.ts';
import { grantUpload, signCompletion, signPart } from './uploads/upload-routes.ts';

/** REST API v1: route → command or query. Everything else (checks, OpenAPI, 405) is derived from this table. */
export const routes: readonly Route[] = [
  list('/podcasts', 'podcasts'),
  create('/podcasts', 'podcast.create'),
  read('/podcasts/{id}', 'podcasts'),
  change('PUT', '/podcasts/{id}', 'podcast.revise'),
  change('POST', '/podcasts/{id}/publish', 'podcast.publish'),
  list('/podcasts/{id}/episodes', 'episodes', { type: 'podcasts', link: 'podcast', from: 'path', field: 'id' }),
  create('/podcasts/{id}/episodes', 'episode.create', { type: 'podcasts', attribute: 'podcast_id' }),
  podcastAnalytics('/podcasts/{id}/analytics'),

  read('/episodes/{id}', 'episodes'),
  change('PUT', '/episodes/{id}', 'episode.revise'),
  change('POST', '/episodes/{id}/publish', 'episode.publish'),

  grantUpload('/uploads'),
  signPart('/uploads/part_url'),
  signCompletion('/uploads/complete_multipart_url'),

  list('/productions', 'productions', { type: 'episodes', link: 'episode', from: 'query', field: 'episode_id' }),
  createProduction('/productions'),
  read('/productions/{id}', 'productions'),
  startProduction('/productions/{id}/start'),
  followProduction('/productions/{id}/events'),

  readAccount('/account'),
  readOperation('/operations/{id}'),
];
