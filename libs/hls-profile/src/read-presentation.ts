import { z } from 'zod';
import { quotedOf } from './attributes.ts';
import type { Finding } from './finding.ts';
import type { MultivariantPlaylist } from './playlist.ts';
import type { MediaKind, MediaRead, Presentation, ReadResource } from './presentation.ts';
import { readBreaks, type ReadAd } from './read-breaks.ts';
import { readMedia, readPlaylist, type Extent } from './read-media.ts';
import { createReader, type Reader } from './reader.ts';
import { allMedia, isVideo } from './tracks.ts';

/** A presentation with more playlists is judged by the first ones. */
const maxPlaylists = 100;

/** The playlists that a multivariant playlist names, in its order. */
function namedPlaylists({
  variants,
  renditions,
  iframes,
}: MultivariantPlaylist): readonly { uri: string; kind: MediaKind }[] {
  const ofType: Readonly<Record<string, MediaKind>> = { AUDIO: 'audio', VIDEO: 'video', SUBTITLES: 'subtitles' };
  const kindOf = (type: string | undefined) =>
    type !== undefined && Object.hasOwn(ofType, type) ? ofType[type] : undefined;
  return [
    ...renditions.flatMap(({ attributes }) => {
      const uri = quotedOf(attributes, 'URI');
      const kind = kindOf(attributes.get('TYPE')?.text);
      return uri === undefined || kind === undefined ? [] : { uri, kind };
    }),
    ...variants.map((variant) => ({
      uri: variant.uri,
      kind: isVideo(variant) ? ('video' as const) : ('audio' as const),
    })),
    ...iframes.flatMap(({ attributes }) => {
      const uri = quotedOf(attributes, 'URI');
      return uri === undefined ? [] : { uri, kind: 'iframes' as const };
    }),
  ];
}

const chaptersSchema = z.array(z.object({ 'start-time': z.number().min(0), duration: z.number().min(0).optional() }));

async function readChapters(reader: Reader, { sessionData }: MultivariantPlaylist, base: string, prefix: string) {
  const tag = sessionData.find(({ attributes }) => quotedOf(attributes, 'DATA-ID') === 'com.apple.hls.chapters');
  if (!tag) return undefined;
  const where = `${prefix}chapters`;
  const uri = quotedOf(tag.attributes, 'URI');
  if (uri === undefined)
    return { where, problems: ['The chapters have no URI. Write URI="…" into EXT-X-SESSION-DATA.'] };
  const answer = await reader.get({ uri, base, where, kind: 'chapters' });
  if (!answer) return { where, problems: [] };
  try {
    const { error } = chaptersSchema.safeParse(JSON.parse(new TextDecoder().decode(answer.body)));
    const at = error?.issues[0]?.path.join('.') || 'the document';
    return {
      where,
      problems: error ? [`The chapters are wrong at ${at}. Write [{"start-time":0,"titles":[…]}].`] : [],
    };
  } catch {
    return { where, problems: ['The chapters are no JSON. Write a JSON array.'] };
  }
}

/** The shown name of an address: as it is written, but for what is too long to read. */
const shown = (uri: string) => (uri.length <= 80 ? uri : `…${uri.slice(-79)}`);

async function readAllMedia(reader: Reader, main: MultivariantPlaylist, base: string, prefix: string, extent: Extent) {
  const named = namedPlaylists(main);
  if (named.length > maxPlaylists) reader.note(`Of ${named.length} playlists the first ${maxPlaylists} were read.`);
  const byUrl = new Map<string, MediaRead | undefined>();
  const media = new Map<string, MediaRead>();
  for (const { uri, kind } of named.slice(0, maxPlaylists)) {
    const url = URL.parse(uri, base)?.href ?? uri;
    if (!byUrl.has(url))
      byUrl.set(url, await readMedia(reader, { uri, base, where: `${prefix}${shown(uri)}`, kind }, extent));
    const read = byUrl.get(url);
    if (read) media.set(uri, read);
  }
  return media;
}

/** Reads a presentation without its breaks; undefined, with a finding of `reader`, when there is no multivariant playlist. */
async function readOne(
  reader: Reader,
  {
    uri,
    base,
    prefix,
    isAd,
  }: { readonly uri: string; readonly base: string; readonly prefix: string; readonly isAd: boolean },
  extent: Extent,
): Promise<Presentation | undefined> {
  const where = `${prefix}multivariant playlist`;
  const found = await readPlaylist(reader, uri, base, where);
  if (!found) return undefined;
  const { playlist: main, url } = found;
  if (main.kind !== 'multivariant') {
    reader.tell(
      'syntax',
      where,
      'This is a media playlist. Give the address of the multivariant playlist, which has EXT-X-STREAM-INF.',
    );
    return undefined;
  }
  const media = await readAllMedia(reader, main, url, prefix, extent);
  const chapters = isAd ? undefined : await readChapters(reader, main, url, prefix);
  const { findings, answers } = reader;
  return { where, isAd, main, media, breaks: [], chapters, findings, answers };
}

/** Reads the presentation of each ad once, also where several breaks have the same. */
function createAdReader(read: ReadResource, reader: Reader, extent: Extent): ReadAd {
  const ads = new Map<string, Presentation | undefined>();
  return async (uri, base, where) => {
    const key = URL.parse(uri, base)?.href ?? uri;
    if (!ads.has(key)) {
      const ofAd = createReader(read);
      const ad = await readOne(ofAd, { uri, base, prefix: `${where}: `, isAd: true }, extent);
      if (!ad) reader.findings.push(...ofAd.findings);
      for (const note of ofAd.notes) reader.note(note);
      ads.set(key, ad);
    }
    return ads.get(key);
  };
}

export interface ReadResult {
  /** Undefined when there is no multivariant playlist, for a reason that stands in `findings`. */
  readonly presentation: Presentation | undefined;
  /** What could not be read, and what the standard says against the playlists, ads not counted. */
  readonly findings: readonly Finding[];
  /** What was not judged, and why, in sentences. */
  readonly notes: readonly string[];
}

/**
 * Reads a presentation as a player would, one request after the other: multivariant playlist, media playlists, initialization sections,
 * segments, chapters, asset lists (each twice) and the presentations of the ads.
 * @param read gets a resource; bounds of size and time are its own
 * @param url absolute address of the multivariant playlist
 */
export async function readPresentation(
  read: ReadResource,
  url: string,
  { extent }: { readonly extent: Extent },
): Promise<ReadResult> {
  const reader = createReader(read);
  const { findings } = reader;
  const one = await readOne(reader, { uri: url, base: url, prefix: '', isAd: false }, extent);
  const breaks = one && (await readBreaks(reader, createAdReader(read, reader, extent), allMedia(one)));
  return { presentation: one && { ...one, breaks: breaks! }, findings, notes: [...reader.notes] };
}
