import { iFramePlaylist, mediaPlaylist, type MediaPlaylist, type ScheduledBreak } from '@longwave/hls-media';
import type { OpenTrack } from './open-track.ts';

interface OpenPicture {
  readonly width: number;
  readonly height: number;
  readonly track: OpenTrack;
}

/** The pictures of a presentation or of an ad. */
export interface OpenPictures {
  /** From the smallest. `frameRate` is in pictures a second. */
  readonly renditions: readonly (OpenPicture & { readonly name: string; readonly frameRate: number })[];
  /** For seeking. */
  readonly iFrames: OpenPicture;
}

/** Name of the rendition of sound: AAC at 192 kbit/s. */
export const audioName = 'a192';
/** Name of the pictures for seeking. */
const iFrameName = 'iframe';

/** What a multivariant playlist says of pictures. @param base of the addresses in it */
export function pictureVariants(pictures: OpenPictures | undefined, base = '') {
  if (!pictures) return {};
  const { renditions, iFrames } = pictures;
  const variantOf = (name: string, { width, height, track }: OpenPicture) => ({
    ...{ uri: `${base}${name}/media.m3u8`, codec: track.codec, width, height, rates: track.rates },
  });
  return {
    pictures: renditions.map(({ name, frameRate, ...picture }) => ({ ...variantOf(name, picture), frameRate })),
    iFrames: variantOf(iFrameName, iFrames),
  };
}

/** The track of a rendition by its name; undefined when there is none. */
export function trackOf(name: string, audio: OpenTrack, pictures: OpenPictures | undefined): OpenTrack | undefined {
  if (name === audioName) return audio;
  if (name === iFrameName) return pictures?.iFrames.track;
  return pictures?.renditions.find((each) => each.name === name)?.track;
}

/** All tracks by their digests. */
export const tracksOf = (audio: OpenTrack, pictures: OpenPictures | undefined): ReadonlyMap<string, OpenTrack> =>
  new Map(
    [audio, ...(pictures ? [...pictures.renditions, pictures.iFrames].map(({ track }) => track) : [])].map((track) => [
      track.digest,
      track,
    ]),
  );

/** The playlist of a track. @param uri of its file, from the playlist */
export const playlistOf = (
  { media, reader: { index } }: OpenTrack,
  uri: string,
  schedule: readonly ScheduledBreak[] = [],
): MediaPlaylist => (media === 'iframe' ? iFramePlaylist(uri, index) : mediaPlaylist(uri, index, schedule));
