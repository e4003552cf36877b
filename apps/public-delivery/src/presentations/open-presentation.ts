import { durationTicks } from '@longwave/hls-media';
import type { Pool } from '@longwave/postgres';
import { LRUCache } from 'lru-cache';
import { fromStore } from '../http/from-store.ts';
import type { LoadIndex } from './load-index.ts';
import { tracksOf, type OpenPictures } from './open-pictures.ts';
import { openTrack, type OpenTrack } from './open-track.ts';
import { findPresentation, shortIdOf, type StoredPresentation } from './presentation-table.ts';

/** A presentation with what is needed to send it. */
export interface OpenPresentation extends StoredPresentation {
  readonly audio: OpenTrack;
  /** Undefined for sound alone. */
  readonly pictures: OpenPictures | undefined;
  /** All of them, by their digests. */
  readonly tracks: ReadonlyMap<string, OpenTrack>;
  /** Length of the intro, and of everything, in ticks of the track. */
  readonly contentStart: number;
  readonly duration: number;
}

/** Opens presentations. Rejects with `temporarily_unavailable` when an index cannot be had. */
export interface OpenPresentations {
  /** By its digest or the part of it that tokens carry. */
  find(digest: string): Promise<OpenPresentation | undefined>;
}

/** About so many bytes of memory. */
const maxBytes = 120_000_000;
/** A cell takes about 600 bytes behind an intro, 100 without one. An hour has 1,300 of sound, and 12,400 with pictures. */
const bytesOf = ({ document, tracks }: OpenPresentation): number =>
  [...tracks.values()].reduce((sum, { reader }) => sum + reader.index.cells.length, 0) *
  (document.audio.track.parts.length > 1 ? 600 : 100);

async function openPictures(
  pictures: StoredPresentation['document']['pictures'],
  loadIndex: LoadIndex,
): Promise<OpenPictures | undefined> {
  if (!pictures) return undefined;
  const { renditions, i_frames } = pictures;
  const { track, index, width, height } = i_frames;
  return {
    renditions: await Promise.all(
      renditions.map(async ({ name, frame_rate: { frames, seconds }, ...each }) => ({
        ...{ name, width: each.width, height: each.height, frameRate: frames / seconds },
        track: await openTrack(each.track, [each.index], loadIndex, 'video'),
      })),
    ),
    iFrames: { width, height, track: await openTrack(track, [index], loadIndex, 'iframe') },
  };
}

export async function openPresentation(stored: StoredPresentation, loadIndex: LoadIndex): Promise<OpenPresentation> {
  const { track, indexes, own } = stored.document.audio;
  const audio = await openTrack(track, indexes, loadIndex);
  const pictures = await openPictures(stored.document.pictures, loadIndex);
  return {
    ...stored,
    audio,
    pictures,
    tracks: tracksOf(audio, pictures),
    contentStart: track.parts[own]!.rebase,
    duration: durationTicks(audio.reader.index),
  };
}

/** Presentations never change; the last ones stay open. */
export function createOpenPresentations(pool: Pool, loadIndex: LoadIndex): OpenPresentations {
  const open = new LRUCache<string, OpenPresentation>({
    maxSize: maxBytes,
    sizeCalculation: bytesOf,
  });
  const opening = new Map<string, Promise<OpenPresentation | undefined>>();

  async function openStored(stored: StoredPresentation | undefined): Promise<OpenPresentation | undefined> {
    if (!stored) return undefined;
    const presentation = await fromStore(openPresentation(stored, loadIndex));
    open.set(shortIdOf(stored.digest), presentation);
    return presentation;
  }

  /** Concurrent calls share one opening. */
  function openOnce(
    key: string,
    read: () => Promise<StoredPresentation | undefined>,
  ): Promise<OpenPresentation | undefined> {
    const shared = opening.get(key);
    if (shared) return shared;
    const begun = read()
      .then(openStored)
      .finally(() => opening.delete(key));
    opening.set(key, begun);
    return begun;
  }

  return {
    find: async (digest) => open.get(shortIdOf(digest)) ?? openOnce(digest, () => findPresentation(pool, digest)),
  };
}
