import {
  breakCells,
  presentationTimeline,
  renderCaptions,
  renderChapters,
  renderMediaPlaylist,
  renderMultivariant,
  segmentsOf,
  subtitlePlaylist,
  type DateRange,
  type MediaPlaylist,
  type ScheduledBreak,
  type Segment,
} from '@longwave/hls-media';
import type { Transcript } from '@longwave/transcript';
import { LRUCache } from 'lru-cache';
import { audioName, pictureVariants, playlistOf, trackOf } from './open-pictures.ts';
import type { OpenPresentation } from './open-presentation.ts';
import type { OpenTrack } from './open-track.ts';

/** What differs between the presentation for everybody and that of a play. */
export interface PresentationView {
  readonly schedule: readonly ScheduledBreak[];
  /** Of the schedule. */
  readonly dateRanges: readonly DateRange[];
  /** The address of a track's file, from a media playlist. */
  readonly trackUri: (digest: string) => string;
}

/** A text of the tree below a presentation. */
interface PresentationFile {
  readonly contentType: string;
  readonly text: string;
}

export const playlistType = 'application/vnd.apple.mpegurl';
const captionsType = 'text/vtt; charset=utf-8';
const jsonType = 'application/json';

const captionsPrefix = 'subs-';

/**
 * The multivariant playlist.
 * @param base of the addresses in it; '' for those below its own
 */
export function renderMain({ document, audio, pictures }: OpenPresentation, base = ''): string {
  const { language, name, captions, chapters } = document;
  return renderMultivariant({
    ...(chapters.length > 0 && { chaptersUri: `${base}chapters.json` }),
    audio: { name, language, uri: `${base}${audioName}/media.m3u8`, rates: audio.rates },
    captions: captions.map((each) => ({
      name: each.name,
      language: each.language,
      uri: `${base}${captionsPrefix}${each.language}/media.m3u8`,
    })),
    ...pictureVariants(pictures, base),
  });
}

/** Equal for everybody who has the same schedule of a presentation. */
const keyOf = (digest: string, schedule: readonly ScheduledBreak[]): string =>
  [digest, ...schedule.map(({ position, startMs }) => `${position}${startMs}`)].join(' ');

const toMs = (ticks: number, timescale: number) => (ticks * 1000) / timescale;

export interface PresentationFiles {
  /** The file at a path below the presentation, `main.m3u8` or `a192/media.m3u8`; undefined when there is none. */
  render(presentation: OpenPresentation, path: string, view: PresentationView): Promise<PresentationFile | undefined>;
}

/** Playlists of an hour take 40 to 90 kB, those of pictures for seeking 900 kB. */
const maxPlaylistBytes = 20 << 20;
/** Each takes about 80 bytes; an hour has 750. */
const maxSegments = 200_000;

/**
 * Makes the texts of presentations: playlists, captions, chapters and timelines. What all plays of a schedule share stays in memory.
 * @param readTranscript reads a stored transcript by its key
 */
export function createPresentationFiles(
  readTranscript: (storageKey: string) => Promise<Transcript>,
): PresentationFiles {
  const playlists = new LRUCache<string, MediaPlaylist>({
    maxSize: maxPlaylistBytes,
    sizeCalculation: ({ head, body }) => head.length + body.length,
  });
  const segmentLists = new LRUCache<string, readonly Segment[]>({
    maxSize: maxSegments,
    sizeCalculation: ({ length }) => length,
  });

  /** The playlist of a track, or without one of captions. */
  function sharedPlaylist(
    { digest, audio }: OpenPresentation,
    track: OpenTrack | undefined,
    { schedule, trackUri }: PresentationView,
  ): MediaPlaylist {
    const uri = track && trackUri(track.digest);
    const key = `${uri ?? ''} ${keyOf(digest, schedule)}`;
    const known = playlists.get(key);
    if (known) return known;
    const made =
      track && uri !== undefined ? playlistOf(track, uri, schedule) : subtitlePlaylist(audio.reader.index, schedule);
    playlists.set(key, made);
    return made;
  }

  /** The segments of the sound, which are those of captions too. */
  function sharedSegments({ digest, audio }: OpenPresentation, { schedule }: PresentationView): readonly Segment[] {
    const key = keyOf(digest, schedule);
    const known = segmentLists.get(key);
    if (known) return known;
    const { index } = audio.reader;
    const made = segmentsOf(index, breakCells(index, schedule));
    segmentLists.set(key, made);
    return made;
  }

  async function captionsFile(
    presentation: OpenPresentation,
    language: string,
    number: number,
    view: PresentationView,
  ): Promise<PresentationFile | undefined> {
    const { document, audio, contentStart } = presentation;
    const captions = document.captions.find((each) => each.language === language);
    const { index } = audio.reader;
    const segment = sharedSegments(presentation, view)[number - 1];
    if (!captions || !segment) return undefined;
    const [from, to] = [segment.start, segment.start + segment.duration].map((at) => toMs(at, index.timescale));
    const transcript = await readTranscript(captions.storage_key);
    const text = renderCaptions(transcript, toMs(contentStart, index.timescale), from!, to!);
    return { contentType: captionsType, text };
  }

  async function render(
    presentation: OpenPresentation,
    path: string,
    view: PresentationView,
  ): Promise<PresentationFile | undefined> {
    const { document, audio, pictures, contentStart, duration } = presentation;
    const { timescale } = audio.reader.index;
    if (path === 'main.m3u8') return { contentType: playlistType, text: renderMain(presentation) };
    if (path === 'chapters.json' && document.chapters.length > 0) {
      const text = renderChapters(document.chapters, document.language, toMs(contentStart, timescale));
      return { contentType: jsonType, text };
    }
    if (path === 'timeline.json') {
      const timeline = presentationTimeline(toMs(duration, timescale), view.schedule, view.dateRanges);
      return { contentType: jsonType, text: JSON.stringify(timeline) };
    }
    const [rendition, file, ...more] = path.split('/') as [string, string | undefined, ...string[]];
    if (file === undefined || more.length > 0) return undefined;
    const language = rendition.startsWith(captionsPrefix) ? rendition.slice(captionsPrefix.length) : undefined;
    const track = trackOf(rendition, audio, pictures);
    if (!track && !document.captions.some((each) => each.language === language)) return undefined;
    if (file === 'media.m3u8') {
      const playlist = sharedPlaylist(presentation, track, view);
      return { contentType: playlistType, text: renderMediaPlaylist(playlist, view.dateRanges) };
    }
    const number = /^([1-9]\d{0,5})\.vtt$/.exec(file)?.[1];
    if (language === undefined || number === undefined) return undefined;
    return captionsFile(presentation, language, Number(number), view);
  }

  return { render };
}
