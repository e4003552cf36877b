import {
  canonicalFormat,
  durationMsOfFrames,
  id3SizeBytes,
  renderId3,
  renderInfoFrame,
  type Id3Chapter,
} from '@longwave/audio';
import type { Artwork } from '../projection/projected.ts';

/** Headers grow in steps of this size, so that a header has the same size with and without ads. */
const headerStepBytes = 1024;
/** Room for the length of a longer file, which has more digits. */
const headerSlackBytes = 16;
/** Pixels; a larger picture costs every listener its bytes. */
const maxPictureSize = 600;

/** The texts of the tag in front of the audio; the same with and without ads. */
export interface HeaderNames {
  readonly title: string;
  readonly album: string;
  readonly artist: string;
  readonly track: number | undefined;
  readonly publishedAt: Date;
  /** Page of the episode, else of its podcast. */
  readonly page: string | undefined;
}

/** The genre that players and file managers know. */
const genre = 'Podcast';

/** The rendition of the artwork that goes into the tag. */
export type Picture = Artwork['renditions'][number] & { readonly content_type: 'image/jpeg' };

/** The largest JPEG of at most 600 pixels. */
export function pictureOf(artwork: Artwork | undefined): Picture | undefined {
  return (artwork?.renditions ?? [])
    .filter((each): each is Picture => each.content_type === 'image/jpeg' && each.size <= maxPictureSize)
    .reduce<Picture | undefined>((best, each) => (best && best.size >= each.size ? best : each), undefined);
}

const noBytes = new Uint8Array(0);

/**
 * How long the header of an episode is, whatever ads its file has.
 * @param chaptersBytes size of its chapters
 */
export function headerSizeBytes(names: HeaderNames, chaptersBytes: number, picture: Picture | undefined): number {
  const needed =
    id3SizeBytes({
      ...names,
      genre,
      lengthMs: 0,
      ...(picture && { picture: { contentType: picture.content_type, bytes: noBytes } }),
    }) +
    (picture?.size_bytes ?? 0) +
    chaptersBytes +
    headerSlackBytes;
  return Math.ceil(needed / headerStepBytes) * headerStepBytes + canonicalFormat.frameSizeBytes;
}

/** The size of chapters in a header. */
export const chaptersTagBytes = (chapters: readonly Id3Chapter[]): number => {
  const empty = { title: '', album: '', artist: '', lengthMs: 0 };
  return id3SizeBytes({ ...empty, chapters }) - id3SizeBytes(empty);
};

/**
 * The bytes before the audio: an ID3v2.3 tag with the length and the chapters of this very file, and the Info frame, which tells
 * players the length and where to seek. A picture that cannot be had leaves its room empty.
 * @param frames of the audio
 */
export function renderHeader(
  names: HeaderNames,
  frames: number,
  chapters: readonly Id3Chapter[],
  picture: Picture | undefined,
  pictureBytes: Buffer | undefined,
): Buffer {
  const tag = renderId3(
    {
      ...names,
      genre,
      lengthMs: durationMsOfFrames(frames),
      chapters,
      ...(picture && pictureBytes && { picture: { contentType: picture.content_type, bytes: pictureBytes } }),
    },
    headerSizeBytes(names, chaptersTagBytes(chapters), picture) - canonicalFormat.frameSizeBytes,
  );
  return Buffer.concat([tag, renderInfoFrame(frames)]);
}
