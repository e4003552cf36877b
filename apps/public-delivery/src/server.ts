import type { Pool } from '@longwave/postgres';
import { parseOrProblem, Problem } from '@longwave/problems';
import { rpcService, type RpcService } from '@longwave/rpc';
import { BindingServiceService, EnclosureServiceService, PreviewServiceService } from '@longwave/rpc/delivery';
import { gateways } from '@longwave/services';
import { z } from 'zod';
import { enclosurePath, playlistPath } from './feeds/to-feed.ts';
import { eraseListeners, findListeners } from './plays/listener-erasure-table.ts';
import type { OpenPreview } from './previews/open-preview.ts';
import { findShownPresentation, listEnclosures } from './projection/feed-table.ts';

const maxEpisodes = 200;

const name = z.string().min(1).max(64);
const presentationRequest = z.strictObject({ workspaceId: name, episodeId: name });
const findRequest = z.strictObject({ workspaceId: name, decisionIds: z.array(name).max(100) });
const label = z.string().max(128);
const previewRequest = z.strictObject({
  ...{ workspaceId: name, episodeId: name, app: label, device: label, operatingSystem: label },
  country: z.string().regex(/^[A-Z]{2}$/),
  atMs: z.bigint().min(1n).max(BigInt(8.64e15)).optional(),
});
const eraseRequest = z.strictObject({
  erasureId: name,
  workspaceId: name,
  listenerKeys: z.array(z.string().regex(/^[0-9a-f]{32,64}$/)),
});

/** The RPCs for other services. Each caller has checked that its client may see the episodes that it names. */
export const deliveryServices = ({
  pool,
  openPreview,
  mediaUrl,
}: {
  readonly pool: Pool;
  readonly openPreview: OpenPreview;
  /** Without a slash at the end. */
  readonly mediaUrl: string;
}): RpcService[] => [
  rpcService(
    EnclosureServiceService,
    { findEnclosures: gateways, findPresentation: ['management'] },
    {
      findEnclosures: async ({ workspaceId, episodeIds }) => {
        if (episodeIds.length > maxEpisodes)
          throw new Problem('validation_failed', `episode_ids: at most ${maxEpisodes} at a time`);
        const rows = await listEnclosures(pool, workspaceId, episodeIds);
        return { enclosures: rows.map((row) => ({ episodeId: row.id, url: mediaUrl + enclosurePath(row) })) };
      },
      findPresentation: async (request) => {
        const { workspaceId, episodeId } = parseOrProblem(presentationRequest, request);
        const row = await findShownPresentation(pool, workspaceId, episodeId);
        return {
          presentation: row && { digest: row.digest, url: mediaUrl + playlistPath(row), hasPictures: row.has_pictures },
        };
      },
    },
  ),
  rpcService(
    PreviewServiceService,
    { openPreview: ['rest-gateway'] },
    {
      openPreview: (request, { signal }) =>
        openPreview({ atMs: undefined, ...parseOrProblem(previewRequest, request) }, signal),
    },
  ),
  rpcService(
    BindingServiceService,
    { findListeners: ['management'], eraseListeners: ['management'] },
    {
      findListeners: async (request) => {
        const { workspaceId, decisionIds } = parseOrProblem(findRequest, request);
        return { listeners: [...(await findListeners(pool, workspaceId, decisionIds))] };
      },
      eraseListeners: async (request) => {
        const { listenerKeys, ...erasure } = parseOrProblem(eraseRequest, request);
        return { bindings: BigInt(await eraseListeners(pool, erasure, listenerKeys)) };
      },
    },
  ),
];
