import type { Podcast } from '../podcasts/podcast.ts';
import type { Production } from './production.ts';

export type TrackName = keyof NonNullable<Production['tracks']>;

/** A presentation with pictures needs these; the first of them also tells whether a source of an earlier release has a picture. */
const neededPictures: readonly TrackName[] = ['v720', 'v1080', 'iframe'];
/** They follow when those are there, so that a presentation does not wait for them. */
const smallerPictures: readonly TrackName[] = ['v360', 'v480'];

export const trackNames: readonly TrackName[] = ['a192', ...neededPictures, ...smallerPictures];

/** Names of files that hold sound and at most a cover image. */
const soundOnly: ReadonlySet<string> = new Set([
  'mp3',
  'm4a',
  'm4b',
  'wav',
  'wave',
  'flac',
  'ogg',
  'oga',
  'opus',
  'aac',
  'aif',
  'aiff',
  'caf',
  'wma',
  'w64',
  'mp2',
]);

/** Whether the source has a picture, or an earlier release did not look for one in a file that may have one. */
const mayHavePicture = ({ picture, files }: Production): boolean =>
  picture !== undefined || files.some(({ role, format }) => role === 'source' && !soundOnly.has(format));

/** Codes of faults that the same file has in every try, whatever its podcast's switches do; not those of the host that has the file. */
const finalFault = /^media_(?!not_fetchable$)/;

/**
 * The tracks of HLS to start next for an encoded production of a podcast: first the sound, whose cells the pictures get, then the pictures
 * that every presentation needs, then the others.
 * @param retry also those that failed, unless the file itself is at fault
 */
export function missingTracks(
  podcast: Pick<Podcast, 'hls_audio' | 'hls_video'>,
  production: Production,
  { retry }: { readonly retry: boolean },
): readonly TrackName[] {
  const hasPictures = podcast.hls_video === true && mayHavePicture(production);
  if (!podcast.hls_audio && !hasPictures) return [];
  const stateOf = (name: TrackName) => production.tracks?.[name]?.state;
  const mayRetry = (name: TrackName) =>
    retry && stateOf(name) === 'failed' && !finalFault.test(production.tracks?.[name]?.problem?.code ?? '');
  const missing = (names: readonly TrackName[]) =>
    names.filter((name) => stateOf(name) === undefined || mayRetry(name));
  if (stateOf('a192') !== 'ready') return missing(['a192']);
  if (!hasPictures) return [];
  if (!production.picture) return missing(neededPictures.slice(0, 1));
  const needed = missing(neededPictures);
  if (needed.length > 0) return needed;
  return neededPictures.every((name) => stateOf(name) === 'ready') ? missing(smallerPictures) : [];
}
