import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { renderTranscript, transcriptFormats, type TranscriptFormat } from '@longwave/transcript';
import { copyChunks } from '../segments/copy-chunks.ts';
import type { SegmentCache } from '../segments/segment-cache.ts';
import { chaptersContentType } from './chapters-document.ts';
import { findArtwork, findChapters, findTranscript } from './shown-file-table.ts';
import { digestShape, parameter } from '../http/parameter.ts';
import type { Route } from '../http/route.ts';
import { sendDocument, sendFile } from '../http/send-file.ts';
import { readTranscript, transcriptHeader } from './transcript-file.ts';

const immutable = 'public, max-age=31536000, immutable';
const imageShape = /^\d{1,5}\.(jpg|png|webp)$/;
const chaptersShape = /^[0-9a-f]{64}\.json$/;
const transcriptShape = new RegExp(`^(0|[1-9]\\d{0,8})\\.(${transcriptFormats.join('|')})$`);

export interface ShownFileRoutesOptions {
  readonly pool: Pool;
  readonly store: Pick<ObjectStore, 'get'>;
  readonly artworks: Pick<SegmentCache, 'open'>;
}

/** Artwork, chapters and transcripts that a feed shows, by digest. A file that no feed shows is 404. */
export function shownFileRoutes({ pool, store, artworks }: ShownFileRoutesOptions): readonly Route[] {
  return [
    {
      name: 'artwork.read',
      path: '/delivery/v1/i/:digest/:file',
      get: async (exchange) => {
        const digest = parameter(exchange, 'digest', digestShape);
        const image = await findArtwork(pool, digest, parameter(exchange, 'file', imageShape));
        if (!image) throw new Problem('not_found');
        const { contentType, sizeBytes } = image;
        await sendFile(exchange, {
          etag: `"${digest}"`,
          modifiedAt: undefined,
          sizeBytes,
          headers: { 'content-type': contentType, 'cache-control': immutable },
          open: async ({ from, to } = { from: 0, to: sizeBytes }) => {
            const segment = await artworks.open(digest, sizeBytes);
            return (async function* () {
              await using open = segment;
              yield* copyChunks(open.read(from, to));
            })();
          },
        });
      },
    },
    {
      name: 'chapters.read',
      path: '/delivery/v1/c/:file',
      get: async (exchange) => {
        const digest = parameter(exchange, 'file', chaptersShape).slice(0, 64);
        const document = await findChapters(pool, digest);
        if (!document) throw new Problem('not_found');
        const headers = { 'content-type': chaptersContentType, 'cache-control': immutable };
        await sendDocument(exchange, document, `"${digest}"`, headers);
      },
    },
    {
      name: 'transcript.read',
      path: '/delivery/v1/t/:digest/:file',
      get: async (exchange) => {
        const digest = parameter(exchange, 'digest', digestShape);
        const [shift, format] = parameter(exchange, 'file', transcriptShape).split('.') as [string, TranscriptFormat];
        const key = await findTranscript(pool, digest, Number(shift));
        if (key === undefined) throw new Problem('not_found');
        const transcript = await readTranscript(store, key);
        const bytes = Buffer.from(renderTranscript(format, transcript, Number(shift)), 'utf8');
        const headers = { 'content-type': transcriptHeader(format), 'cache-control': immutable };
        await sendDocument(exchange, bytes, `"${digest}-${shift}-${format}"`, headers);
      },
    },
  ];
}
