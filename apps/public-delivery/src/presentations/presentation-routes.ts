import { Problem } from '@longwave/problems';
import { digestShape, parameter } from '../http/parameter.ts';
import type { Exchange, Route } from '../http/route.ts';
import { sendFile } from '../http/send-file.ts';
import { sendText } from '../http/send-text.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';
import { copyChunks } from '../segments/copy-chunks.ts';
import type { SegmentCache } from '../segments/segment-cache.ts';
import type { OpenPresentation, OpenPresentations } from './open-presentation.ts';
import { contentTypeOf } from './open-track.ts';
import type { PresentationFiles, PresentationView } from './presentation-files.ts';
import { readTrack } from './read-track.ts';

const immutable = 'public, max-age=31536000, immutable';
const nameShape = /^[A-Za-z0-9.-]{1,60}$/;

/** The presentation for everybody: without breaks. */
export const cleanView: PresentationView = {
  schedule: [],
  dateRanges: [],
  trackUri: (digest) => `../s/${digest}/m.mp4`,
};

export interface PresentationRoutesOptions {
  readonly projection: Pick<RecentProjection, 'getVisibility'>;
  readonly presentations: Pick<OpenPresentations, 'find'>;
  readonly files: PresentationFiles;
  readonly segments: Pick<SegmentCache, 'open'>;
}

/**
 * HLS for everybody: the tree of a presentation, by its digest. The address of a track names the presentation, because several episodes,
 * also of different workspaces, can have the same bytes. Nobody is counted here, and nothing is decided.
 */
export function presentationRoutes({
  projection,
  presentations,
  files,
  segments,
}: PresentationRoutesOptions): readonly Route[] {
  /**
   * Throws `resource_gone` for an episode that was archived, or whose plays were ended when it got other audio; `not_found` for one that is
   * not public.
   */
  async function requireShown({ episodeId, renditionDigest }: OpenPresentation, at: Date): Promise<void> {
    const { kind, playsEnd } = await projection.getVisibility(episodeId, at);
    if (kind === 'ended') throw new Problem('resource_gone');
    if (kind === 'hidden') throw new Problem('not_found');
    if (playsEnd.before && playsEnd.digest !== renditionDigest) throw new Problem('resource_gone');
  }

  async function find(exchange: Exchange): Promise<OpenPresentation> {
    const digest = parameter(exchange, 'digest', digestShape);
    const presentation = await presentations.find(digest);
    if (presentation?.digest !== digest) throw new Problem('not_found');
    await requireShown(presentation, exchange.startedAt);
    return presentation;
  }

  async function readFile(exchange: Exchange, path: string): Promise<void> {
    const presentation = await find(exchange);
    const file = await files.render(presentation, path, cleanView);
    if (!file) throw new Problem('not_found');
    await sendText(exchange, file.text, { 'content-type': file.contentType, 'cache-control': immutable });
  }

  return [
    {
      name: 'presentation.read',
      path: '/delivery/v1/h/:digest/:file',
      get: (exchange) => readFile(exchange, parameter(exchange, 'file', nameShape)),
    },
    {
      name: 'presentation_file.read',
      path: '/delivery/v1/h/:digest/:rendition/:file',
      get: (exchange) =>
        readFile(exchange, `${parameter(exchange, 'rendition', nameShape)}/${parameter(exchange, 'file', nameShape)}`),
    },
    {
      name: 'track.read',
      path: '/delivery/v1/h/:digest/s/:track/m.mp4',
      get: async (exchange) => {
        const { tracks } = await find(exchange);
        const track = tracks.get(parameter(exchange, 'track', digestShape));
        if (!track) throw new Problem('not_found');
        const sizeBytes = track.reader.index.bytes;
        await sendFile(exchange, {
          etag: `"${track.digest}"`,
          modifiedAt: undefined,
          sizeBytes,
          headers: { 'content-type': contentTypeOf(track), 'cache-control': immutable },
          open: async ({ from, to } = { from: 0, to: sizeBytes }) => copyChunks(readTrack(track, from, to, segments)),
        });
      },
    },
  ];
}
