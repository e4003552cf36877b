import type { ActorOfCall } from '@longwave/command-pipeline';
import { productCatalog, typedResource } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import type { Pool } from '@longwave/postgres';
import { rpcService, type RpcContext, type RpcService } from '@longwave/rpc';
import { FeedServiceService } from '@longwave/rpc/feed';
import { createImportReport } from '../hosting/imports/import-report.ts';
import type { PreviewFeed } from '../hosting/imports/preview-feed.ts';
import type { createAwaitFeed, createCheckLiveFeed } from '../hosting/podcasts/check-live-feed.ts';
import { holdsRole, type Access } from '../workspace/access/access.ts';
import { readers } from './request-fields.ts';

/** Longest wait for a feed that was published a moment ago. */
const feedPatienceMs = 10_000;

const importers = productCatalog.commands['podcast.import_feed'].roles;

/** The public feed of a podcast, and the report of its import. */
export function feedService({
  actorOf,
  access,
  checkLiveFeed,
  awaitFeed,
  pool,
  previewFeed,
}: {
  readonly actorOf: ActorOfCall;
  readonly access: Access;
  readonly checkLiveFeed: ReturnType<typeof createCheckLiveFeed>;
  readonly awaitFeed: ReturnType<typeof createAwaitFeed>;
  readonly pool: Pool;
  readonly previewFeed: PreviewFeed;
}): RpcService {
  const importReport = createImportReport(pool);
  const visiblePodcast = async (
    { workspaceId, podcastId }: { readonly workspaceId: string; readonly podcastId: string },
    context: RpcContext,
  ) => {
    const { resource } = await access.getVisible(await actorOf(context), workspaceId, 'podcasts', podcastId);
    return typedResource(resource, 'podcasts');
  };

  return rpcService(
    FeedServiceService,
    {
      checkFeed: readers,
      awaitFeed: readers,
      getImport: readers,
      listImportItems: readers,
      exportImportItems: readers,
      previewFeed: readers,
    },
    {
      checkFeed: async (request, context) => checkLiveFeed(await visiblePodcast(request, context)),
      awaitFeed: async (request, context) => {
        const until = Math.min(context.deadline.getTime() - 1000, Date.now() + feedPatienceMs);
        return { isLive: await awaitFeed(await visiblePodcast(request, context), new Date(until)) };
      },
      getImport: async (request, context) => importReport.get(await visiblePodcast(request, context)),
      listImportItems: async (request, context) => importReport.list(await visiblePodcast(request, context), request),
      exportImportItems: async (request, context) =>
        importReport.exportLines(await visiblePodcast(request, context), request),
      previewFeed: async ({ workspaceId, feedUrl }, context) => {
        const actor = await actorOf(context);
        access.checkWorkspace(actor, workspaceId);
        if (!holdsRole(actor, { workspaceId, podcastId: undefined }, importers))
          throw new Problem('permission_denied', 'Only who may import podcasts may look at a feed to import.');
        return previewFeed(workspaceId, feedUrl, context);
      },
    },
  );
}
