import { gunzipSync, gzipSync } from 'node:zlib';
import type { SampledPlay } from './sampled-play.ts';

/** The parts of a play in the order of the columns; stored rows are read for 90 days, so a new part goes to the end. */
const columns = [
  ...(['atMs', 'podcastId', 'episodeId', 'country', 'region', 'device', 'operatingSystem', 'app', 'surface'] as const),
  ...(['language', 'explicit', 'contentCategories', 'publishedAtMs', 'adLoadLimitMs', 'streamFormat'] as const),
  ...(['streamFormats', 'breaks', 'lineItemIds', 'noAdReason', 'weight'] as const),
] as const satisfies readonly (keyof SampledPlay)[];

/** A column: its different values, and per play the place of its own. */
interface Column {
  readonly values: readonly unknown[];
  readonly places: readonly number[];
}

export interface PackedSample {
  readonly packed: Buffer;
  /** In the order of the plays. */
  readonly listeners: readonly Buffer[];
}

function columnOf(values: readonly unknown[]): Column {
  const known = new Map<string, number>();
  const places = values.map((value) => {
    const key = JSON.stringify(value);
    return known.get(key) ?? known.set(key, known.size).get(key)!;
  });
  return { values: [...known.keys()].map((key) => JSON.parse(key) as unknown), places };
}

/** The stored form of an hour's plays. */
export function packSample(plays: readonly SampledPlay[]): PackedSample {
  const packed = gzipSync(JSON.stringify(columns.map((name) => columnOf(plays.map((play) => play[name])))));
  return { packed, listeners: plays.map((play) => play.listener) };
}

/** The plays of an hour; equal breaks and lists are one object. */
export function unpackSample({ packed, listeners }: PackedSample): SampledPlay[] {
  const parts = JSON.parse(gunzipSync(packed).toString()) as readonly Column[];
  return listeners.map((listener, at) => {
    const play: Partial<Record<keyof SampledPlay, unknown>> = { listener };
    for (const [part, name] of columns.entries()) play[name] = parts[part]!.values[parts[part]!.places[at]!];
    return play as SampledPlay;
  });
}
