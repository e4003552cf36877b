import { z } from 'zod';
import type { PrefixRecord } from './prefix-record.ts';
import { createRowReader, findDelimiter } from '@longwave/csv';

export interface EpisodeRef {
  readonly podcastId: string;
  readonly episodeId: string;
}

/** Finds the episode of a logged URL. */
export type MatchEpisode = (url: string) => EpisodeRef | undefined;

/** Finds the episode of a record, by its URL or by the log's own name of the episode. */
export type MatchRecord = (record: Pick<PrefixRecord, 'url' | 'episode_id'>) => EpisodeRef | undefined;

const id = z.string().regex(/^[\w.-]{1,100}$/, 'an id has letters, digits, _, . and -');
const episodeRow = z.strictObject({ url: z.string().min(1).max(8_192), episode_id: id, podcast_id: id });

/** A URL without scheme and fragment, its host in lower case: "cdn.example/audio/1.mp3?x=1". */
function bareUrl(url: string): string {
  const bare = url.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').replace(/#.*$/, '');
  const end = bare.search(/[/?]/);
  return end === -1 ? bare.toLowerCase() : bare.slice(0, end).toLowerCase() + bare.slice(end);
}

const withoutQuery = (url: string) => url.replace(/\?.*$/, '');

/**
 * Parses a table of enclosures: CSV with the columns url, episode_id and podcast_id. Throws `RangeError` with the wrong line.
 * @param podcastId of the episodes when there is no such column
 */
export function parseEpisodes(text: string, podcastId: string | undefined): Map<string, EpisodeRef> {
  const [header = '', ...lines] = text.replace(/^\ufeff/, '').split(/\r?\n/);
  const delimiter = findDelimiter(header);
  const names = header.split(delimiter).map((name) => name.trim());
  const byUrl = new Map<string, EpisodeRef>();
  const reader = createRowReader(delimiter, (row) => {
    const cells = 'cells' in row ? row.cells : [];
    const parsed = episodeRow.safeParse({
      ...(podcastId !== undefined && { podcast_id: podcastId }),
      ...Object.fromEntries(names.map((name, index) => [name, cells[index]?.trim()])),
    });
    if (!parsed.success)
      throw new RangeError(
        `Line ${row.line} of the table of episodes has no valid ${parsed.error.issues[0]!.path.join('.')}. Its columns are url, episode_id and podcast_id.`,
      );
    byUrl.set(bareUrl(parsed.data.url), { podcastId: parsed.data.podcast_id, episodeId: parsed.data.episode_id });
  });
  lines.forEach((line, index) => reader.feed(line, index + 2));
  reader.end();
  return byUrl;
}

/**
 * Matches by enclosure URL. The URL of a prefix service ends with the enclosure's URL, so every part of the logged URL that begins after a
 * slash is looked up, the longest first; the query matters only when the enclosure has one. A log of paths alone is matched by path, when
 * only one enclosure has it.
 */
export function matchByEnclosure(byUrl: ReadonlyMap<string, EpisodeRef>): MatchEpisode {
  const byPath = new Map<string, EpisodeRef | undefined>();
  for (const [url, ref] of byUrl) {
    const slash = url.indexOf('/');
    if (slash !== -1) byPath.set(url.slice(slash), byPath.has(url.slice(slash)) ? undefined : ref);
  }
  const lookUp = (url: string) => byUrl.get(url) ?? byUrl.get(withoutQuery(url));
  return (url) => {
    // Prefixes keep or drop the scheme of the enclosure: /e/https://cdn.example/1.mp3 and /e/cdn.example/1.mp3.
    const whole = bareUrl(url.replace(/(?<=.)https?:\/\//gi, ''));
    const path = withoutQuery(whole);
    for (let at = 0; at !== -1;) {
      const found = lookUp(bareUrl(whole.slice(at)));
      if (found) return found;
      const slash = path.indexOf('/', at);
      at = slash === -1 ? -1 : slash + 1;
    }
    return whole.startsWith('/') ? (byPath.get(whole) ?? byPath.get(path)) : undefined;
  };
}

/**
 * Matches the end of a URL's path by a pattern like `/audio/{podcast}/{episode}.mp3`; `*` stands for anything but a slash.
 * Throws `RangeError` when the pattern names no episode.
 * @param podcastId when the pattern names no podcast
 */
export function matchByPattern(pattern: string, podcastId: string | undefined): MatchEpisode {
  if (!pattern.includes('{episode}') || (!pattern.includes('{podcast}') && podcastId === undefined))
    throw new RangeError(
      `--url-pattern must contain {episode}, and also {podcast} if --podcast is not given, as in /audio/{podcast}/{episode}.mp3.`,
    );
  const source = pattern
    .split(/(\{episode\}|\{podcast\}|\*)/)
    .map((part, index) => {
      if (index % 2 === 0) return part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
      return part === '*' ? '[^/]*' : `(?<${part.slice(1, -1)}>[\\w.-]+?)`;
    })
    .join('');
  const expression = new RegExp(`(?:^|/)${source.replace(/^\\\//, '')}$`);
  return (url) => {
    const found = expression.exec(withoutQuery(bareUrl(url)))?.groups;
    if (!found) return undefined;
    return { podcastId: found['podcast'] ?? podcastId!, episodeId: found['episode']! };
  };
}

/** Matches an episode by its ID: any ID of the table, or, without a table, any ID of the podcast. */
export function matchById(
  byUrl: ReadonlyMap<string, EpisodeRef> | undefined,
  podcastId: string | undefined,
): MatchEpisode {
  if (byUrl !== undefined) {
    const byId = new Map([...byUrl.values()].map((ref) => [ref.episodeId, ref]));
    return (name) => byId.get(name);
  }
  return (name) => (podcastId !== undefined && id.safeParse(name).success ? { podcastId, episodeId: name } : undefined);
}

/** Matches by URL first. The log's own name of an episode may be its enclosure's URL (as in oDL) or its id. */
export const matchRecords =
  (byUrl: MatchEpisode, byId: MatchEpisode): MatchRecord =>
  ({ url, episode_id }) =>
    (url === undefined ? undefined : byUrl(url)) ??
    (episode_id === undefined ? undefined : (byUrl(episode_id) ?? byId(episode_id)));
