import { contentSnapshotBody, deliveryAliasBody, surfaceCapabilityBody } from '@longwave/exchange-messages';
import { newId } from '@longwave/ids';
import { transaction } from '@longwave/postgres';
import {
  saveAlias,
  saveHostedEpisode,
  saveHostedPodcast,
  saveSnapshot,
  saveSurface,
} from '../src/projection/resource-tables.ts';
import { aliasBody, capabilityBody, episodeBody, type Exchange, type Platform } from './_exchange.ts';

type Body = Record<string, unknown>;

/** What management has made of a platform's messages. */
export interface World {
  readonly snapshots?: readonly { readonly version: number; readonly state: string; readonly episode?: Body }[];
  readonly surface?: { readonly id?: string; readonly state?: string; readonly capability?: Body };
  readonly alias?: { readonly state?: string; readonly body?: Body } | null;
  /** State of the episode, which plays the first of the versions, and of its podcast. */
  readonly episode?: string;
  readonly podcast?: string;
}

const rendition = { format: 'mp3', sha256: 'c'.repeat(64), size_bytes: 900, duration_ms: 60_000 };

/** Keeps the snapshots, surface and alias of a platform as management has them. */
export async function project(
  exchange: Exchange,
  host: Platform,
  { snapshots = [], surface = {}, alias = {}, episode: episodeState, podcast: podcastState = 'published' }: World,
): Promise<{ readonly episodeId: string }> {
  const { id: surfaceId = 'app' } = surface;
  const source = (sourceId: string, version: number) => ({
    authority_id: host.authorityId,
    signed_by: host.key.id,
    stream_id: 'show:1',
    sequence: version,
    message_digest: `sha256:${'d'.repeat(64)}`,
    source_id: sourceId,
    source_version: version,
  });
  const revision = (prefix: string, state: string) => ({
    ...{ id: newId(prefix), workspaceId: host.workspaceId, version: 1, state },
  });
  const [episodeId, podcastId] = [newId('ep'), newId('pod')];
  const versions = snapshots.map((each) => ({ ...each, ...revision('csn', each.state), sourceVersion: each.version }));
  await transaction(exchange.pool, async (tx) => {
    await saveHostedPodcast(
      tx,
      { ...revision('pod', podcastState), id: podcastId },
      { authority_id: host.authorityId, stream_id: 'show:1' },
    );
    if (episodeState !== undefined)
      await saveHostedEpisode(
        tx,
        { ...revision('ep', episodeState), id: episodeId },
        { podcastId, snapshotId: versions[0]!.id },
      );
    for (const { sourceVersion: version, episode, ...each } of versions)
      await saveSnapshot(tx, each, {
        ...source('ep-1', version),
        content: contentSnapshotBody.omit({ x: true }).parse({ episode: episodeBody(episode) }),
        episode_id: episodeId,
        ...(['ready', 'superseded'].includes(each.state) && { rendition }),
      });
    await saveSurface(tx, revision('sfc', surface.state ?? 'current'), {
      ...source(surfaceId, 1),
      capability: surfaceCapabilityBody.parse(capabilityBody(surfaceId, surface.capability)),
    });
    if (alias)
      await saveAlias(tx, revision('dal', alias.state ?? 'active'), {
        ...source('a1', 4),
        ...deliveryAliasBody.parse(aliasBody('a1', alias.body)),
        address: 'northern/a1',
      });
  });
  return { episodeId };
}
