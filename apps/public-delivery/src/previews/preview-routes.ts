import { canonicalFormat } from '@longwave/audio';
import { Problem } from '@longwave/problems';
import type { Pool } from '@longwave/postgres';
import { LRUCache } from 'lru-cache';
import { arrangedMedia } from '../arrangements/arranged-media.ts';
import { partsOf } from '../arrangements/arrangement.ts';
import { fromMemory, type PartSource } from '../arrangements/part-source.ts';
import { sendMade } from '../companions/companion-files.ts';
import { haltsAny } from '../decisions/halts.ts';
import { openedToken } from '../http/parameter.ts';
import type { Exchange, Route } from '../http/route.ts';
import { sendFile } from '../http/send-file.ts';
import { hasEnded } from '../plays/ended-plays.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';
import { copyChunks } from '../segments/copy-chunks.ts';
import { previewTimelineOf } from './open-preview.ts';
import { findPreview, type KeptPreview } from './preview-table.ts';
import type { PreviewTokens } from './preview-token.ts';

export interface PreviewRoutesOptions {
  readonly pool: Pool;
  readonly partSource: PartSource;
  readonly projection: Pick<RecentProjection, 'getVisibility' | 'listHalts'>;
  readonly tokens: Pick<PreviewTokens, 'open'>;
}

/** A preview never changes; the last ones are remembered, because a browser asks for their audio in many ranges. */
const maxRemembered = 50;
const cacheControl = 'private, no-store';

/** The parts of a preview: what was made for it alone lies with it. */
const withHeaders = ({ headers }: KeptPreview, source: PartSource): PartSource => ({
  open: async (part) => {
    const own = headers.get(part.blob);
    return own ? fromMemory(own) : source.open(part);
  },
  find: () => undefined,
});

async function* readBytes(preview: KeptPreview, source: PartSource, from: number, to: number) {
  const media = arrangedMedia(partsOf(preview.document), withHeaders(preview, source));
  for await (const { bytes } of media.read({ from, to })) yield bytes;
}

/**
 * The file and the timeline of a preview. They are sent as files that nobody counts: no fact of them is made. Rejects with `resource_gone` once
 * the address has expired, the plays of its episode were ended or one of its ads was halted, and with `not_found` for every other token that
 * does not open.
 */
export function previewRoutes({ pool, partSource, projection, tokens }: PreviewRoutesOptions): readonly Route[] {
  const remembered = new LRUCache<string, KeptPreview>({ max: maxRemembered });

  /** Where an ad is halted, a listener gets another file; a preview is made anew by whoever wants it. */
  async function isOver({ workspaceId, podcastId, episodeId, ads, begun }: KeptPreview, at: Date): Promise<boolean> {
    const [{ kind, playsEnd }, halts] = await Promise.all([
      projection.getVisibility(episodeId, at),
      projection.listHalts(workspaceId, at),
    ]);
    return kind === 'ended' || hasEnded(begun, playsEnd) || haltsAny(halts, podcastId, ads);
  }

  async function previewOf(exchange: Exchange): Promise<KeptPreview> {
    const { previewId, expired } = openedToken(exchange, tokens.open);
    const preview = expired ? undefined : (remembered.get(previewId) ?? (await findPreview(pool, previewId)));
    if (!preview) throw new Problem('resource_gone');
    remembered.set(previewId, preview);
    if (await isOver(preview, exchange.startedAt)) throw new Problem('resource_gone');
    return preview;
  }

  return [
    {
      name: 'preview_timeline.read',
      path: '/delivery/v1/pv/:token/timeline.json',
      get: async (exchange) => {
        const { document } = await previewOf(exchange);
        const timeline = Buffer.from(JSON.stringify(previewTimelineOf(document)), 'utf8');
        await sendMade(exchange, timeline, 'application/json', cacheControl);
      },
    },
    {
      name: 'preview_audio.read',
      path: '/delivery/v1/pv/:token/preview.mp3',
      get: async (exchange) => {
        const preview = await previewOf(exchange);
        const sizeBytes = preview.document.total_bytes;
        await sendFile(exchange, {
          ...{ etag: `"${preview.id}"`, modifiedAt: undefined, sizeBytes },
          headers: { 'content-type': canonicalFormat.contentType, 'cache-control': cacheControl },
          open: async ({ from, to } = { from: 0, to: sizeBytes }) =>
            copyChunks(readBytes(preview, partSource, from, to)),
        });
      },
    },
  ];
}
