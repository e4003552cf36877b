import { Problem } from '@longwave/problems';
import { rpcService, serveRpc, type Tls } from '@longwave/rpc';
import { AudienceServiceService, Window } from '@longwave/rpc/audience';
import { EnclosureServiceService, PreviewServiceService } from '@longwave/rpc/delivery';
import { FeedServiceService } from '@longwave/rpc/feed';
import {
  EncodingQueueServiceService,
  EncodingTimeServiceService,
  OperationServiceService,
  ResourceServiceService,
} from '@longwave/rpc/resource';
import { UploadServiceService } from '@longwave/rpc/upload';
import { WebhookServiceService } from '@longwave/rpc/webhook';
import { authServerServices } from './_auth-stand-in.ts';
import { commandStandIn } from './_command-stand-in.ts';
import { podcastOf, readCases, sees, visibleFixtures } from './_fixtures.ts';
import { principals } from './_principals.ts';
import type { Scene } from './_scene.ts';

const importItem = {
  ...{ position: 1, guid: 'one', title: 'One', state: 'encoded', episodeId: '', problem: '' },
  notes: [{ kind: 'lost', field: 'itunes:order', detail: 'This service has no field for it: “7”.' }],
};

const feedPreview = {
  ...{ title: 'Old', author: 'A', description: '', language: 'en', artworkUrl: 'https://old.example/art.jpg' },
  ...{ isLocked: true, isBlocked: false, items: 3, audioBytes: 90_000_000n },
  noteCounts: [
    { kind: 'lost', field: 'itunes:order', items: 3 },
    { kind: 'changed', field: 'guid', items: 2 },
  ],
  channelNotes: [{ kind: 'lost', field: 'categories', detail: '“Gossip” is not a category of Apple Podcasts.' }],
  leftOut: [{ position: 3, title: 'Three', problem: 'The item names no file at a web address.' }],
  leftOutItems: 1,
};

const delivery = {
  ...{ id: 'whd_0000000000000000000000000a', message_id: 'evt_0000000000000000000000000a', type: 'episode.published' },
  ...{ state: 'failed', problem: 'status', ended_at: '2026-11-23T00:00:00.000Z' },
  ...{ occurred_at: '2026-11-20T00:00:00.000Z', created_at: '2026-11-20T00:00:00.000Z' },
  attempts: [
    {
      ...{ number: 1, started_at: '2026-11-20T00:00:00.000Z', duration_ms: 12 },
      ...{ status: 500, problem: 'status', answer: 'out of order' },
    },
  ],
};

export const now = new Date('2026-11-21T12:00:30.000Z');
const expiresAtMs = BigInt(now.getTime() + 3_600_000);
const gateway = ['rest-gateway'] as const;

const oversized = { resourcesJson: ['x'.repeat(17 * 1024 * 1024)], nextCursor: '' };

function managementServices(scene: Scene) {
  const { visible } = visibleFixtures(scene);
  const sign = (what: string) => {
    scene.signed += 1;
    if (scene.given.sign) throw new Problem(scene.given.sign.problem);
    return { url: `http://objects.test/${what}?signature=${scene.signed}`, expiresAtMs };
  };
  return [
    commandStandIn(scene),
    rpcService(
      ResourceServiceService,
      { getResource: gateway, listResources: gateway },
      {
        getResource: async ({ workspaceId, resourceType, resourceId }, { deadline, principalStatement }) => {
          scene.deadlines.push(deadline);
          const found = visible(principalStatement, resourceType).find(
            (resource) => resource.id === resourceId && ['', resource.workspace_id].includes(workspaceId),
          );
          if (!found) throw new Problem('not_found', `There is no such thing as ${resourceId}.`);
          return { resourceJson: JSON.stringify(found), podcastId: podcastOf(found) ?? '' };
        },
        listResources: async (request, { principalStatement }) => {
          const { workspaceId, resourceType, links, lifecycleStates, cursor } = request;
          const all = visible(principalStatement, resourceType).filter(
            (resource) =>
              ['', resource.workspace_id].includes(workspaceId) &&
              (lifecycleStates.length === 0 || lifecycleStates.includes(resource.lifecycle_state)) &&
              Object.entries(links).every(([name, id]) => resource.links[name] === id),
          );
          // A message that is larger than a client accepts.
          if (request.limit > (scene.given.maxPageSize ?? Infinity)) return oversized;
          // One per page, so that every list walks the cursor.
          const at = Number(cursor || 0);
          return {
            resourcesJson: all.slice(at, at + 1).map((resource) => JSON.stringify(resource)),
            nextCursor: at + 1 < all.length ? String(at + 1) : '',
          };
        },
      },
    ),
    rpcService(
      FeedServiceService,
      {
        checkFeed: gateway,
        awaitFeed: gateway,
        getImport: gateway,
        listImportItems: gateway,
        exportImportItems: gateway,
        previewFeed: gateway,
      },
      {
        checkFeed: async () => ({
          feedUrl: 'http://media.test/feeds/harbour-light.xml',
          findings: [{ severity: 'warning', code: 'etag_missing', text: 'The feed has no ETag.' }],
        }),
        awaitFeed: async () => ({ isLive: true }),
        getImport: async () => ({
          ...{ state: 'completed', total: 1, created: 1, encoded: 1, published: 0, scheduled: 0, failed: 0 },
          noteCounts: [{ kind: 'lost', field: 'itunes:order', items: 1 }],
          channelNotes: [],
        }),
        listImportItems: async () => ({ items: [importItem] }),
        exportImportItems: async () => ({ csv: '1,One,one,encoded,,,,itunes:order: “7”\r\n', items: 1, position: 1 }),
        previewFeed: async ({ feedUrl }) => {
          if (feedUrl.includes('/no-feed'))
            throw new Problem('feed_not_importable', 'There is no feed at this address.');
          return feedPreview;
        },
      },
    ),
    rpcService(
      WebhookServiceService,
      { listDeliveries: gateway },
      { listDeliveries: async () => ({ deliveriesJson: [JSON.stringify(delivery)] }) },
    ),
    rpcService(
      EncodingTimeServiceService,
      { getEncodingTime: gateway },
      {
        getEncodingTime: async (_request, { principalStatement }) => {
          const isUnlimited = principalStatement === principals['network']!.statement;
          const limitMs = isUnlimited ? undefined : 360_000_000n;
          return { month: '2026-11', usedMs: 3_600_000n, reservedMs: 60_000n, limitMs };
        },
      },
    ),
    rpcService(
      EncodingQueueServiceService,
      { getQueuePlace: gateway },
      {
        getQueuePlace: async ({ productionId }, { principalStatement }) => {
          const found = visible(principalStatement, 'productions').some(({ id }) => id === productionId);
          if (!found) throw new Problem('not_found');
          return { place: scene.given.queuePlace };
        },
      },
    ),
    rpcService(
      OperationServiceService,
      { getOperation: gateway },
      {
        getOperation: async (request, { principalStatement }) => {
          const operation = readCases('operation.json') as { id: string; workspace_id: string };
          const isShown = operation.id === request.operationId && operation.workspace_id === request.workspaceId;
          if (!isShown || !sees(principalStatement, request.workspaceId, undefined)) throw new Problem('not_found');
          return { operationJson: JSON.stringify(operation) };
        },
      },
    ),
    rpcService(
      UploadServiceService,
      {
        ...{ signUpload: gateway, signDownload: gateway, signPart: gateway, signCompletion: gateway },
        ...{ signExport: gateway, signWaveform: gateway },
      },
      {
        signUpload: async ({ uploadId }) => sign(uploadId),
        signDownload: async ({ uploadId }) => ({ ...sign(`get-${uploadId}`), sizeBytes: 1000n }),
        signPart: async ({ partNumber }) => sign(`part-${partNumber}`),
        signCompletion: async () => sign('completion'),
        signExport: async () => sign('export'),
        signWaveform: async ({ productionId }) => sign(`waveform-${productionId}`),
      },
    ),
  ];
}

function analyticsSinkServices(scene: Scene) {
  const basis = {
    methodologyVersion: '1',
    completeUntilMs: BigInt(now.getTime()),
    window: Window.CALENDAR_UTC,
    restated: [],
  };
  return [
    rpcService(
      AudienceServiceService,
      {
        countDownloads: gateway,
        countByEpisode: gateway,
        countEpisodeRanges: gateway,
        countByDimension: gateway,
        countTotals: gateway,
        findFirstDownloads: gateway,
        countEpisodes: gateway,
        countAdSeries: gateway,
        exportDays: [],
        countAds: [],
        countCampaigns: [],
        readReport: [],
      },
      {
        countDownloads: async (request) => {
          scene.counted.push(request);
          const startMs = request.range!.fromMs;
          return {
            buckets: [
              { startMs, downloads: 3n, listeners: 2n },
              { startMs: startMs + 86_400_000n, downloads: 0n, listeners: 0n },
            ],
            ...basis,
          };
        },
        countByEpisode: async () => ({
          episodes: [{ episodeId: 'ep_0000000000000000000000000b', downloads: 3n }],
          ...basis,
        }),
        countEpisodeRanges: async ({ episodes }) => ({
          episodes: episodes.map(({ episodeId }) => ({ episodeId, downloads: 3n })),
          ...basis,
        }),
        countByDimension: async () => ({
          counts: [
            { key: 'NO', downloads: 3n },
            { key: 'SE', downloads: 1n },
          ],
          ...basis,
        }),
        countTotals: async ({ podcastIds }) => ({
          podcasts: podcastIds.map((podcastId) => ({ podcastId, downloads: 4n, listeners: 3n })),
          ...basis,
        }),
        countEpisodes: async ({ podcastIds }) => ({
          episodes: podcastIds.map((podcastId) => ({
            podcastId,
            episodeId: 'ep_0000000000000000000000000b',
            downloads: 3n,
          })),
          ...basis,
        }),
        countAdSeries: async ({ range }) => ({
          buckets: [{ startMs: range!.fromMs, decided: 3n, delivered: 2n, billable: 1n }],
          ...basis,
        }),
        findFirstDownloads: async () => ({ podcasts: [] }),
        exportDays: async () => ({ days: [], window: Window.CALENDAR_UTC }),
        countAds: async () => ({
          delivered: 0n,
          decided: 0n,
          billable: 0n,
          served: 0n,
          confirmed: 0n,
          clientEvents: [],
          ...basis,
        }),
        countCampaigns: async () => ({ campaigns: [], ...basis }),
        readReport: async () => undefined,
      },
    ),
  ];
}

function publicDeliveryServices(scene: Scene) {
  return [
    rpcService(
      EnclosureServiceService,
      { findEnclosures: gateway, findPresentation: [] },
      {
        findEnclosures: async (request) => {
          scene.enclosures.push(request);
          const urlOf = (episodeId: string) => `http://media.test/delivery/v1/e/${episodeId}/audio.mp3`;
          const known = scene.given.served ? request.episodeIds : [];
          return { enclosures: known.map((episodeId) => ({ episodeId, url: urlOf(episodeId) })) };
        },
        findPresentation: async () => ({ presentation: undefined }),
      },
    ),
    rpcService(
      PreviewServiceService,
      { openPreview: gateway },
      {
        openPreview: async ({ atMs }) => ({
          ...{ previewId: 'prv_0000000000000000000000000a', expiresAtMs: 1_795_269_630_000n },
          audioUrl: 'http://media.test/delivery/v1/pv/t1.preview/preview.mp3',
          timelineUrl: 'http://media.test/delivery/v1/pv/t1.preview/timeline.json',
          timelineJson: JSON.stringify({
            ...{ version: 1, preview: true, duration_ms: 90_000 },
            parts: [
              {
                ...{ kind: 'break', key: 'pre', position: 'pre', start_ms: 0, duration_ms: 30_000 },
                slots: [{ slot: 0, start_ms: 0, duration_ms: 30_000 }],
              },
              { kind: 'content', start_ms: 30_000, duration_ms: 60_000, content_start_ms: 0 },
            ],
          }),
          decisionJson: JSON.stringify({
            ...{ at: new Date(Number(atMs ?? 1_795_266_030_000n)).toISOString(), as_paced: atMs === undefined },
            serving_plan_id: 'spl_0000000000000000000000000a',
            breaks: [{ key: 'pre', position: 'pre', position_ms: 0, max_slots: 2, max_duration_ms: 60_000 }],
            picks: [
              {
                ...{ break_key: 'pre', slot: 0, campaign_id: 'cmp_0000000000000000000000000a' },
                line_item_id: 'li_0000000000000000000000000a',
                creative_id: 'crv_0000000000000000000000000a',
              },
            ],
            no_ad_reason: 'no_more_line_items',
            stages: [],
            candidates: [
              {
                ...{ break_key: 'pre', line_item_id: 'li_0000000000000000000000000a' },
                ...{ verdict: 'won', codes: ['won'], tier: 2, rank: 1 },
              },
            ],
          }),
        }),
      },
    ),
  ];
}

/** The gateway's four services in this process: each answers from the fixtures and the scene. */
export async function startStandIns(
  scene: Scene,
  tls: (name: 'management' | 'auth-server' | 'analytics-sink' | 'public-delivery') => Tls,
) {
  const options = {
    listen: '127.0.0.1:0',
    onError: (error: unknown) => {
      if (!(error instanceof Problem)) throw error;
    },
  };
  return {
    management: await serveRpc({ ...options, tls: tls('management'), services: managementServices(scene) }),
    authServer: await serveRpc({ ...options, tls: tls('auth-server'), services: authServerServices(scene) }),
    analyticsSink: await serveRpc({ ...options, tls: tls('analytics-sink'), services: analyticsSinkServices(scene) }),
    publicDelivery: await serveRpc({
      ...options,
      tls: tls('public-delivery'),
      services: publicDeliveryServices(scene),
    }),
  };
}
