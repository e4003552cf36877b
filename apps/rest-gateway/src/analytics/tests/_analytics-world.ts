import { topics, type DeliveryFact, type ResourceView } from '@longwave/events';
import { createIdentity, createManagement, type Caller } from '@longwave/hosting-client';
import { listenHttp } from '@longwave/http-kit';
import { Problem, type ProblemCode } from '@longwave/problems';
import { signPrincipal, type Role } from '@longwave/principal';
import { openChannel, readTls, rpcService, serveRpc } from '@longwave/rpc';
import { AudienceServiceService } from '@longwave/rpc/audience';
import { CommandServiceService, type ExecuteRequest } from '@longwave/rpc/command';
import { ResourceServiceService } from '@longwave/rpc/resource';
import { UploadServiceService } from '@longwave/rpc/upload';
import { createLogger } from '@longwave/service-kit';
import { until } from '@longwave/test-kit';
import { prepareSink } from '@longwave/test-kit/analytics-sink';
import { Redis } from 'ioredis';
import { exportJWK, generateKeyPair } from 'jose';
import { createProgressFeed } from '../../productions/progress-feed.ts';
import { createServer } from '../../server.ts';
import { podcastAchievements } from '../achievement-routes.ts';
import {
  episodeAnalytics,
  episodeListenersAnalytics,
  podcastAdsAnalytics,
  podcastAnalytics,
  podcastEpisodesAnalytics,
  podcastListenersAnalytics,
} from '../analytics-routes.ts';
import { analyticsEpisodes } from '../episode-totals-routes.ts';
import { listenersOverTime, podcastsCategories } from '../insight-routes.ts';
import { readLegacyExport, startLegacyExport } from '../legacy-export-routes.ts';
import { podcastOverview } from '../overview-routes.ts';
import { analyticsReports, analyticsReportsArchives } from '../report-routes.ts';
import { arts, catalogue, comedy, facts, idOf, lateFact, news, organization, own, resource } from './_catalogue.ts';

const now = new Date('2026-11-21T12:00:30.000Z');
const routes = [
  podcastAnalytics('/podcasts/{id}/analytics'),
  podcastEpisodesAnalytics('/podcasts/{id}/analytics/episodes'),
  podcastListenersAnalytics('/podcasts/{id}/analytics/listeners'),
  startLegacyExport('/podcasts/{id}/analytics/legacy_export'),
  readLegacyExport('/podcasts/{id}/analytics/legacy_export'),
  podcastAchievements('/podcasts/{id}/achievements'),
  podcastOverview('/podcasts/{id}/overview'),
  listenersOverTime('/podcasts/{id}/insights/listeners_over_time'),
  podcastsCategories('/podcasts/{id}/insights/podcasts_categories'),
  episodeAnalytics('/episodes/{id}/analytics'),
  podcastAdsAnalytics('/podcasts/{id}/analytics/ads'),
  episodeListenersAnalytics('/episodes/{id}/analytics/listeners'),
  analyticsEpisodes('/analytics/episodes'),
  analyticsReports('/analytics/reports'),
  analyticsReportsArchives('/analytics/reports_archives'),
];

const plan = (name: string, historyDays?: number) => ({
  name,
  includesAnalytics: name !== 'launch',
  historyDays,
  encodingMsPerMonth: undefined,
  requestsPerMinute: 300,
  uploadUrlsPerMinute: 300,
});
const unlimited = plan('network');

interface Person {
  readonly plan: Caller['plan'];
  readonly roles?: readonly Role[];
  readonly grants?: readonly { workspaceId: string; podcastId: string; roles: readonly Role[]; plan: Caller['plan'] }[];
}
const inOrganization = (roles: readonly Role[], itsPlan = plan('grow', 90), podcastId = '') => [
  { workspaceId: organization, podcastId, roles, plan: itsPlan },
];
const people: Readonly<Record<string, Person>> = {
  owner: { plan: unlimited },
  grow: { plan: plan('grow', 90) },
  launch: { plan: plan('launch', 0) },
  viewer: { plan: unlimited, roles: ['viewer'] },
  both: { plan: unlimited, grants: inOrganization(['analyst']) },
  editor: { plan: unlimited, grants: inOrganization(['editor', 'producer', 'scheduler', 'viewer']) },
  guest: { plan: plan('launch', 0), grants: inOrganization(['analyst', 'viewer'], unlimited, news) },
};

/** The commands that the stand-in for management received, and the answers that it will give. */
export const scene = {
  executed: [] as ExecuteRequest[],
  refusal: undefined as ProblemCode | undefined,
  exports: [] as ResourceView[],
};
export const exportOf = (id: string, state: string, attributes: object, podcastId = arts) =>
  resource('statistics_exports', id, {
    state,
    created: '2026-11-20T10:00:00.000Z',
    attributes: { podcast_id: podcastId, kind: 'legacy', ...attributes },
  });

const neverCalled = () => Promise.reject(new Problem('internal_error'));

/** A stand-in for management as far as these routes need it, without its checks of visibility. */
async function startManagement(tls: Parameters<typeof serveRpc>[0]['tls']) {
  const gateway = ['rest-gateway'] as const;
  return serveRpc({
    listen: '127.0.0.1:0',
    tls,
    onError: (error) => {
      if (!(error instanceof Problem)) throw error;
    },
    services: [
      rpcService(
        CommandServiceService,
        { execute: gateway },
        {
          execute: async (request) => {
            scene.executed.push(request);
            if (scene.refusal) throw new Problem(scene.refusal);
            const started = {
              ...exportOf(idOf('sxp', '1'), 'preparing', JSON.parse(request.changesJson) as object),
              created_at: now.toISOString(),
            };
            return {
              operationJson: JSON.stringify({ id: idOf('op', '1') }),
              resourceJson: JSON.stringify(started),
              status: 202,
              replayed: false,
            };
          },
        },
      ),
      rpcService(
        ResourceServiceService,
        { getResource: gateway, listResources: gateway },
        {
          getResource: async ({ resourceType, resourceId }) => {
            const found = catalogue.find(
              ({ resource_type, id }) => resource_type === resourceType && id === resourceId,
            );
            if (!found) throw new Problem('not_found');
            const podcastId = resourceType === 'podcasts' ? resourceId : found.links['podcast']!;
            return { resourceJson: JSON.stringify(found), podcastId };
          },
          listResources: async ({ workspaceId, resourceType, links, lifecycleStates }) => ({
            resourcesJson: [...catalogue, ...scene.exports]
              .filter((one) => one.resource_type === resourceType && ['', one.workspace_id].includes(workspaceId))
              .filter((one) => Object.entries(links).every(([name, id]) => one.links[name] === id))
              .filter((one) => lifecycleStates.length === 0 || lifecycleStates.includes(one.lifecycle_state))
              .map((one) => JSON.stringify(one)),
            nextCursor: '',
          }),
        },
      ),
      rpcService(
        UploadServiceService,
        { signUpload: [], signDownload: [], signPart: [], signCompletion: [], signExport: gateway, signWaveform: [] },
        {
          signUpload: neverCalled,
          signPart: neverCalled,
          signCompletion: neverCalled,
          signDownload: async () => ({ url: '', expiresAtMs: 0n }),
          signWaveform: async () => ({ url: '', expiresAtMs: 0n }),
          signExport: async ({ exportId }) => ({ url: `http://store.test/${exportId}.csv`, expiresAtMs: 0n }),
        },
      ),
    ],
  });
}

/** The routes over the real analytics-sink, management standing in. */
export async function startAnalytics() {
  await using stack = new AsyncDisposableStack();
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true });
  const keyHeader = { kid: 'one', alg: 'EdDSA' };
  const privateJwk = { ...(await exportJWK(privateKey)), ...keyHeader };

  const sink = stack.use(
    await prepareSink(['rest-gateway', 'management'], [{ ...(await exportJWK(publicKey)), ...keyHeader }]),
  );
  await sink.start({ LOG_LEVEL: 'info' });
  const publish = (published: readonly DeliveryFact[]) =>
    sink.bus.publish(
      published.map((fact) => ({
        topic: topics.deliveryFacts,
        key: fact.kind === 'byte_range_served' ? fact.listener_key + fact.episode_id : fact.fact_id,
        id: fact.fact_id,
        type: fact.kind,
        payload: fact,
      })),
    );
  const management = await startManagement(readTls(sink.identities.management));
  stack.defer(() => management.close(100));
  const tls = readTls(sink.identities['rest-gateway']);
  const channels = {
    sink: openChannel(sink.address, 'analytics-sink', tls),
    management: openChannel(`127.0.0.1:${management.port}`, 'management', tls),
  };
  for (const channel of Object.values(channels)) stack.defer(() => channel.close());

  const callerOf = async (name: string): Promise<Caller> => {
    const { plan: ownPlan, roles = ['owner'], grants = [] } = people[name]!;
    const common = {
      account_id: 'acc_1',
      credential_id: `crd_${name}`,
      credential_kind: 'api_key' as const,
      read_only: false,
    };
    const statement = await signPrincipal(
      {
        ...common,
        workspace_id: own,
        roles: [...roles],
        grants: grants.map(({ workspaceId, podcastId, roles: granted }) => ({
          workspace_id: workspaceId,
          ...(podcastId && { podcast_id: podcastId }),
          roles: [...granted],
        })),
      },
      privateJwk,
      new Date(),
    );
    return {
      accountId: common.account_id,
      workspaceId: own,
      roles: [...roles],
      credentialId: common.credential_id,
      clientId: common.credential_id,
      credentialKind: common.credential_kind,
      userId: '',
      scopes: [],
      grantId: '',
      purposes: [],
      readOnly: false,
      plan: ownPlan,
      statement,
      grants: grants.map((grant) => ({ ...grant, roles: [...grant.roles] })),
    };
  };
  const logger = createLogger('rest-gateway', 'warn');
  const redis = new Redis(sink.redisUrl);
  stack.defer(() => redis.disconnect());
  const listener = await listenHttp(
    '127.0.0.1:0',
    createServer({
      routes,
      deps: {
        management: createManagement(channels.management),
        audience: channels.sink.client(AudienceServiceService),
        // No route of these asks for accounts, addresses of audio or progress.
        identity: createIdentity(channels.management),
        findEnclosures: async () => new Map(),
        openPreview: () => Promise.reject(new Error('not asked')),
        redis,
        progress: stack.use(createProgressFeed(redis, new Redis(sink.redisUrl), () => undefined)),
        clock: () => now,
        baseUrl: 'http://longwave.test',
        mediaUrl: 'http://media.test',
        logger,
      },
      authenticate: ({ headers }) => callerOf(String(headers['token'])),
      countCaller: async () => ({ throttled: false, headers: {} }),
      pages: {},
      consoleBuild: { folder: undefined, mediaUrl: 'http://media.test', objectsUrl: undefined },
      logger,
      stopping: new AbortController().signal,
    }),
  );
  stack.defer(() => listener.close());
  const url = `http://127.0.0.1:${listener.port}/api/v1`;
  /** Parses an answer of 200 with the schema of its route. */
  const get = async (at: string, who = 'owner'): Promise<{ status: number; body: Record<string, unknown> }> => {
    const response = await fetch(url + at, { headers: { Token: who } });
    const body = (await response.json()) as Record<string, unknown>;
    const [bare] = at.split('?');
    const route = routes.find(
      (one) => one.method === 'GET' && new RegExp(`^${one.path.replace('{id}', '[^/]+')}$`).test(bare!),
    );
    if (response.status === 200 && typeof route?.answer === 'object') route.answer.schema.parse(body);
    return { status: response.status, body };
  };
  const totalOf = async (id: string) =>
    (await get(`/podcasts/${id}/achievements?type=downloads`, 'both')).body['value'];
  const recentDownloads = async (id: string) => {
    const { downloads } = (await get(`/podcasts/${id}/overview`)).body as { downloads: { last_30_days: number } };
    return downloads.last_30_days;
  };
  const beforeFacts = new Date();
  await publish(facts);
  await until(
    async () => (await totalOf(arts)) === 10 && (await recentDownloads(comedy)) === 2 && (await totalOf(news)) === 3,
  );
  const beforeLateFact = new Date();
  await publish([lateFact]);
  await until(async () => (await totalOf(news)) === 4);
  const owned = stack.move();
  return { url, get, beforeFacts, beforeLateFact, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
