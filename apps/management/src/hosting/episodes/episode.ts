import type { z } from 'zod';
import type { ChangesOf, episodes } from '@longwave/command-catalog';
import { idToUuid } from '@longwave/ids';
import { Problem, type FieldError } from '@longwave/problems';
import type { Podcast } from '../podcasts/podcast.ts';
import type { Production } from '../productions/production.ts';

export type Episode = z.output<typeof episodes.attributes>;
type Chapters = NonNullable<Episode['chapters']>;
type Markers = NonNullable<Episode['markers']>;
type Soundbites = NonNullable<Episode['soundbites']>;

/** Least milliseconds between two mid-roll markers: closer breaks would be one. */
const midSpacingMs = 10_000;

/** Throws `validation_failed` with all errors, if there are any. */
export function assertNoErrors(errors: readonly FieldError[]): void {
  if (errors.length > 0)
    throw new Problem('validation_failed', errors.map((e) => `${e.path}: ${e.detail}`).join(' '), { errors });
}

const outside = (path: string, what: string, durationMs: number): FieldError => ({
  path,
  code: 'outside_audio',
  detail: `${what} after the end of the audio (${durationMs} ms).`,
});

/** The attributes of a new episode. */
export const createEpisode = ({ guid, ...changes }: ChangesOf<'episode.create'>, id: string): Episode => ({
  type: 'full',
  guid: guid ?? idToUuid(id),
  ...changes,
});

/** The chapters sorted by their start. Throws `validation_failed`. */
export function checkedChapters(chapters: Chapters, durationMs: number | undefined): Chapters {
  const errors: FieldError[] = [];
  const starts = new Set<number>();
  for (const [index, { start_ms: startMs, end_ms: endMs }] of chapters.entries()) {
    const path = `/changes/chapters/${index}`;
    if (starts.has(startMs))
      errors.push({
        path: `${path}/start_ms`,
        code: 'not_unique',
        detail: `Two chapters begin at ${startMs} ms.`,
      });
    starts.add(startMs);
    if (endMs !== undefined && endMs <= startMs)
      errors.push({ path: `${path}/end_ms`, code: 'not_after_start', detail: 'A chapter ends after its start.' });
    if (durationMs === undefined) continue;
    if (startMs >= durationMs) errors.push(outside(`${path}/start_ms`, 'The chapter begins', durationMs));
    else if (endMs !== undefined && endMs > durationMs)
      errors.push(outside(`${path}/end_ms`, 'The chapter ends', durationMs));
  }
  assertNoErrors(errors);
  return chapters.toSorted((a, b) => a.start_ms - b.start_ms);
}

function markerErrors(
  { key, kind, position_ms: positionMs }: Markers[number],
  path: string,
  earlier: Markers,
  durationMs: number | undefined,
): FieldError[] {
  const errors: FieldError[] = [];
  if (earlier.some((other) => other.key === key))
    errors.push({ path: `${path}/key`, code: 'not_unique', detail: `Two markers have the key "${key}".` });
  if (kind !== 'mid' && earlier.some((other) => other.kind === kind))
    errors.push({
      path: `${path}/kind`,
      code: 'not_unique',
      detail: `One ${kind}-roll marker is enough: max_slots says how many ads it takes.`,
    });
  const misplaced = (detail: string) =>
    errors.push({ path: `${path}/position_ms`, code: 'misplaced', detail: `${detail}.` });
  if (kind === 'pre' && positionMs !== 0) misplaced('A pre-roll marker is at 0 ms');
  if (kind === 'mid' && positionMs === 0) misplaced('A mid-roll marker is inside the audio; use kind "pre" at 0 ms');
  if (kind === 'post' && positionMs < (durationMs ?? 0))
    misplaced(`A post-roll marker is at the end of the audio (${durationMs} ms) or later`);
  if (kind === 'mid' && durationMs !== undefined && positionMs >= durationMs)
    errors.push(outside(`${path}/position_ms`, 'A mid-roll marker is inside the audio, this one is', durationMs));
  if (kind === 'mid' && earlier.some((m) => m.kind === 'mid' && Math.abs(m.position_ms - positionMs) < midSpacingMs))
    misplaced(`Between two mid-roll markers are at least ${midSpacingMs / 1000} s`);
  return errors;
}

const markerOrder = { pre: 0, mid: 1, post: 2 };

/** The markers in the order of the audio. Throws `validation_failed`. */
export function checkedMarkers(markers: Markers, durationMs: number | undefined): Markers {
  assertNoErrors(
    markers.flatMap((marker, index) =>
      markerErrors(marker, `/changes/markers/${index}`, markers.slice(0, index), durationMs),
    ),
  );
  return markers.toSorted((a, b) => markerOrder[a.kind] - markerOrder[b.kind] || a.position_ms - b.position_ms);
}

/** Throws `validation_failed` unless every soundbite lies inside the audio. */
export function checkSoundbites(soundbites: Soundbites | undefined, durationMs: number | undefined): void {
  if (durationMs === undefined) return;
  assertNoErrors(
    (soundbites ?? []).flatMap(({ start_ms, duration_ms }, index) =>
      start_ms + duration_ms > durationMs
        ? [outside(`/changes/soundbites/${index}`, 'The soundbite ends', durationMs)]
        : [],
    ),
  );
}

/** The key with a value, or nothing: an attribute is absent, never undefined. */
const present = <K extends string, const V>(key: K, value: V | undefined): { [P in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };

/** The episode with the chapters, markers and soundbites that fit a file of this length. */
function fitting(episode: Episode, durationMs: number): Episode {
  const { chapters, markers, soundbites, ...rest } = episode;
  const kept = chapters
    ?.filter((chapter) => chapter.start_ms < durationMs)
    .map(({ end_ms: endMs, ...chapter }) => ({
      ...chapter,
      ...present('end_ms', endMs === undefined ? undefined : Math.min(endMs, durationMs)),
    }));
  return {
    ...rest,
    ...present('chapters', kept?.length === 0 ? undefined : kept),
    ...present(
      'markers',
      markers
        ?.filter((marker) => marker.kind !== 'mid' || marker.position_ms < durationMs)
        .map((marker) =>
          marker.kind === 'post' ? { ...marker, position_ms: Math.max(marker.position_ms, durationMs) } : marker,
        ),
    ),
    ...present(
      'soundbites',
      soundbites?.filter(({ start_ms, duration_ms }) => start_ms + duration_ms <= durationMs),
    ),
  };
}

/**
 * The episode with the audio of a production: its duration, its chapters unless an editor wrote some, and the podcast's present intro and
 * outro.
 */
export function withProduction(
  episode: Episode,
  productionId: string,
  production: Pick<Production, 'audio_duration_ms' | 'chapters' | 'batch_encoding_id'>,
  podcast: Pick<Podcast, 'intro' | 'outro'>,
): Episode {
  const durationMs = production.audio_duration_ms!;
  const { intro: _intro, outro: _outro, batch_encoding_id: _batch, chapters, chapters_from: from, ...kept } = episode;
  const edited = from === 'editor';
  const found = production.chapters?.length ? production.chapters : undefined;
  return fitting(
    {
      ...kept,
      current_production_id: productionId,
      duration_ms: durationMs,
      ...present('chapters', edited ? chapters : found),
      ...present('chapters_from', edited ? 'editor' : found && 'file'),
      ...present('intro', podcast.intro?.segment),
      ...present('outro', podcast.outro?.segment),
      ...present('batch_encoding_id', production.batch_encoding_id),
    },
    durationMs,
  );
}

/** The episode without its production's audio, duration, parts and chapters. Chapters that an editor wrote stay. */
export function withoutProduction({
  current_production_id: _production,
  duration_ms: _duration,
  intro: _intro,
  outro: _outro,
  batch_encoding_id: _batch,
  chapters,
  chapters_from: from,
  ...kept
}: Episode): Episode {
  return { ...kept, ...(from === 'editor' && { chapters, chapters_from: from }) };
}

/** The episode after its audio was removed or replaced: mode "stop_all" ends the plays that began before. */
export const withPlaysEnded = (episode: Episode, mode: 'stop_new' | 'stop_all' | undefined, now: Date): Episode =>
  mode === 'stop_all' ? { ...episode, plays_end_before: now.toISOString() } : episode;

/** A published episode; the date of its first publication never changes. */
export function publishedEpisode({ publish_at: _at, ...kept }: Episode, publishedAt: string): Episode {
  return { ...kept, published_at: kept.published_at ?? publishedAt };
}
