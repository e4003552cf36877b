import type { Logger } from '@longwave/service-kit';
import type { SegmentCache } from '../media/segment-cache.ts';
import { createRecentlyUsed } from '../recently-used.ts';
import type { PlayableEpisode } from '../projection/content-table.ts';
import type { RecentProjection } from '../projection/recent-projection.ts';
import type { FilledBreak } from './arranged-breaks.ts';
import { composePlay } from './compose-play.ts';
import type { NewArrangement } from './play-table.ts';
import { pictureOf, type Picture } from './render-header.ts';
import { within } from './within.ts';

/** Puts the file of one play together from what the projection knows of the episode. */
export type Compose = (episode: PlayableEpisode, breaks: readonly FilledBreak[], at: Date) => Promise<NewArrangement>;

/** Arrangements composed lately: many listeners get the same ads. */
const composedMax = 1_000;
/** A picture that is not here by then is left out. */
const pictureWaitMs = 500;

export interface ComposerOptions {
  readonly projection: Pick<RecentProjection, 'getComposition'>;
  readonly artworks: Pick<SegmentCache, 'open'>;
  readonly logger: Logger;
}

/** Rejects only when the database does not answer: a picture that cannot be had does not keep a listener waiting. */
export function createComposer({ projection, artworks, logger }: ComposerOptions): Compose {
  const composed = createRecentlyUsed<NewArrangement>(composedMax);

  async function readWhole({ sha256, size_bytes }: Picture): Promise<Buffer> {
    await using segment = await artworks.open(sha256, size_bytes);
    const chunks: Buffer[] = [];
    for await (const chunk of segment.read(0, size_bytes)) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks);
  }

  async function readPicture(picture: Picture): Promise<Buffer | undefined> {
    try {
      return await within(pictureWaitMs, readWhole(picture));
    } catch (error) {
      logger.warn({ err: error, digest: picture.sha256 }, 'picture.unavailable');
      return undefined;
    }
  }

  return async (episode, breaks, at) => {
    const composition = await projection.getComposition(episode.episodeId, at);
    const inputs = JSON.stringify([episode, composition, breaks]);
    const known = composed.find(inputs);
    if (known) return known;
    const picture = pictureOf(composition.artwork);
    const bytes = picture && (await readPicture(picture));
    const arrangement = composePlay(episode, composition, breaks, bytes);
    if (!picture || bytes) composed.keep(inputs, arrangement, 1);
    return arrangement;
  };
}
