import type { Logger } from '@longwave/service-kit';
import { LRUCache } from 'lru-cache';
import type { OpenSegment } from '../segments/open-segment.ts';
import type { SegmentCache } from '../segments/segment-cache.ts';
import type { Rendition } from '../projection/projected.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';
import type { Compose } from '../plays/bound-plays.ts';
import { composePlay } from './compose-play.ts';
import { fadeContent, fadeSpans, type FadedContent, type FadeSpan } from './fade-content.ts';
import type { NewArrangement } from '../arrangements/arrangement-table.ts';
import { pictureOf, type Picture } from './render-header.ts';
import { within } from '../segments/within.ts';

/** Arrangements composed lately: many listeners get the same ads. */
const maxComposed = 1_000;
/** A picture or a fade that cannot be read by then is left out. */
const waitMs = 500;

export interface ComposerOptions {
  readonly projection: Pick<RecentProjection, 'getComposition'>;
  readonly artworks: Pick<SegmentCache, 'open'>;
  readonly segments: Pick<SegmentCache, 'open'>;
  readonly logger: Logger;
}

async function readBytes(segment: Pick<OpenSegment, 'read'>, from: number, to: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of segment.read(from, to)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

async function readPicture(artworks: Pick<SegmentCache, 'open'>, { sha256, size_bytes }: Picture): Promise<Buffer> {
  await using segment = await artworks.open(sha256, size_bytes);
  return await readBytes(segment, 0, size_bytes);
}

async function readFaded(
  segments: Pick<SegmentCache, 'open'>,
  { digest, sizeBytes }: Rendition,
  spans: readonly FadeSpan[],
): Promise<FadedContent[]> {
  await using segment = await segments.open(digest, sizeBytes);
  return await fadeContent(spans, (from, to) => readBytes(segment, from, to));
}

/** Composes each file once while it is in use. A picture or a fade that cannot be read in time is left out. */
export function createComposer({ projection, artworks, segments, logger }: ComposerOptions): Compose {
  const composed = new LRUCache<string, NewArrangement>({ max: maxComposed });

  /** Undefined when it cannot be read in time. */
  async function inTime<T>(name: string, digest: string, reading: Promise<T>): Promise<T | undefined> {
    try {
      return await within(waitMs, reading);
    } catch (error) {
      logger.warn({ err: error, digest }, `${name}.unavailable`);
      return undefined;
    }
  }

  return async (episode, breaks, at) => {
    const composition = await projection.getComposition(episode.episodeId, at);
    const inputs = JSON.stringify([episode, composition, breaks]);
    const known = composed.get(inputs);
    if (known) return known;
    const picture = pictureOf(composition.artwork);
    const bytes = picture && (await inTime('picture', picture.sha256, readPicture(artworks, picture)));
    const spans = fadeSpans(episode.rendition, breaks, composition);
    const { digest } = episode.rendition;
    const faded = spans.length > 0 ? await inTime('fade', digest, readFaded(segments, episode.rendition, spans)) : [];
    const arrangement = composePlay(episode, composition, breaks, bytes, faded);
    if ((!picture || bytes) && faded) composed.set(inputs, arrangement);
    return arrangement;
  };
}
