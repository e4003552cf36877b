import type { AdTrack } from '@longwave/events';
import { LRUCache } from 'lru-cache';
import type { AdPictures } from '../decisions/ad-pictures.ts';
import type { LoadIndex } from '../presentations/load-index.ts';
import type { OpenPictures } from '../presentations/open-pictures.ts';
import { openFile, type OpenTrack } from '../presentations/open-track.ts';

/** Opens the tracks of ads. Rejects when an index cannot be had. */
export interface OpenAdFiles {
  openTrack(stored: AdTrack): Promise<OpenTrack>;
  openPictures(stored: AdPictures): Promise<OpenPictures>;
}

/** Ads have few cells. */
const maxAds = 2_000;
/** About so many bytes of memory, for the pictures of all ads. A cell takes about 100. */
const maxPictureBytes = 60_000_000;
const bytesOf = ({ renditions, iFrames }: OpenPictures): number =>
  [...renditions.map(({ track }) => track), iFrames.track].reduce(
    (sum, { reader }) => sum + reader.index.cells.length * 100,
    1_000,
  );
/** From the smallest. */
const sizes = ['v360', 'v720', 'v1080'] as const;

/** Many plays have the same ads; the last ones stay open. */
export function createOpenAdFiles(loadIndex: LoadIndex): OpenAdFiles {
  const tracks = new LRUCache<string, OpenTrack>({ max: maxAds });
  const pictures = new LRUCache<string, OpenPictures>({ maxSize: maxPictureBytes, sizeCalculation: bytesOf });

  async function open({ codec, digest, index_digest: indexDigest }: AdTrack, media?: 'video' | 'iframe') {
    return openFile({ codec, digest, indexDigest, index: await loadIndex(indexDigest) }, loadIndex, media);
  }

  async function openPicture({ width, height, ...track }: AdPictures['iframe'], media: 'video' | 'iframe') {
    return { width, height, track: await open(track, media) };
  }

  async function openRendition(stored: AdPictures, name: (typeof sizes)[number]) {
    const { frames, seconds } = stored[name].frame_rate;
    return { ...(await openPicture(stored[name], 'video')), name, frameRate: frames / seconds };
  }

  return {
    async openTrack(stored) {
      const known = tracks.get(stored.digest);
      if (known) return known;
      const track = await open(stored);
      tracks.set(stored.digest, track);
      return track;
    },
    async openPictures(stored) {
      const key = [stored.iframe, ...sizes.map((name) => stored[name])].map(({ digest }) => digest).join(' ');
      const known = pictures.get(key);
      if (known) return known;
      const opened = {
        renditions: await Promise.all(sizes.map((name) => openRendition(stored, name))),
        iFrames: await openPicture(stored.iframe, 'iframe'),
      };
      pictures.set(key, opened);
      return opened;
    },
  };
}
