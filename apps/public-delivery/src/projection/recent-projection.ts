import type { Pool } from '@longwave/postgres';
import { createLastKnown } from './last-known.ts';
import { getAdContext, listHalts, type AdContext, type EpisodeIds } from './break-table.ts';
import type { HaltScope } from './break-plan.ts';
import { findReportTokenDays } from './policy-table.ts';
import { findPlatformAddress, type PlatformAddress } from './address-table.ts';
import { getVisibility, type Visibility } from './visibility-table.ts';
import { findPresentedDigest } from './presented-digest.ts';
import { findAudioByAlias, getComposition, type Composition, type FoundAudio } from './content-table.ts';

/**
 * The reads of every play, each made at most once a second for each subject: thousands of listeners ask for the same episode. An event
 * that this process applied is seen at once, one that another process applied within a second. While the database is away, a
 * read resolves with the value of the last one, and rejects for a subject that was never read.
 */
export interface RecentProjection {
  findAudioByAlias(alias: string, at: Date): Promise<FoundAudio | undefined>;
  findPlatformAddress(host: string, pathSlug: string, at: Date): Promise<PlatformAddress | undefined>;
  listHalts(workspaceId: string, at: Date): Promise<readonly HaltScope[]>;
  getAdContext(place: EpisodeIds, at: Date): Promise<AdContext>;
  getComposition(episodeId: string, at: Date): Promise<Composition>;
  /** The digest of the presentation that an episode has now. */
  findPresentedDigest(episodeId: string, at: Date): Promise<string | undefined>;
  getVisibility(episodeId: string, at: Date): Promise<Visibility>;
  /** Undefined without a policy. */
  findReportTokenDays(episodeId: string, at: Date): Promise<number | undefined>;
  /** Lets every value be read again. */
  forget(): void;
}

const readAgainMs = 1_000;
/** Values of each kind that are kept for when the database is away. */
const maxLastKnown = 2_000;

interface Reading<V> {
  readonly value: Promise<V>;
  /** By the service's clock, which tests set; `startedMs` by the machine's. */
  readonly at: Date;
  readonly startedMs: number;
}

function createReadings<V extends object | undefined>() {
  const readings = new Map<string, Reading<V>>();
  const lastKnown = createLastKnown<V>(maxLastKnown);

  function forgetOld(nowMs: number): void {
    // The oldest are first.
    for (const [key, { startedMs }] of readings) {
      if (nowMs - startedMs < readAgainMs) break;
      readings.delete(key);
    }
  }

  return {
    forget: () => readings.clear(),
    find(key: string, at: Date, read: () => Promise<V>): Promise<V> {
      const nowMs = performance.now();
      forgetOld(nowMs);
      const known = readings.get(key);
      if (known && Math.abs(at.getTime() - known.at.getTime()) < readAgainMs) return known.value;
      const reading = { value: lastKnown(key, read), at, startedMs: nowMs };
      readings.delete(key);
      readings.set(key, reading);
      reading.value.catch(() => {
        if (readings.get(key) === reading) readings.delete(key);
      });
      return reading.value;
    },
  };
}

export function createRecentProjection(pool: Pool): RecentProjection {
  const audio = createReadings<FoundAudio | undefined>();
  const addresses = createReadings<PlatformAddress | undefined>();
  const halts = createReadings<readonly HaltScope[]>();
  const contexts = createReadings<AdContext>();
  const compositions = createReadings<Composition>();
  const presented = createReadings<{ readonly digest: string | undefined }>();
  const visibilities = createReadings<Visibility>();
  const tokenDays = createReadings<{ readonly days: number | undefined }>();
  return {
    findAudioByAlias: (alias, at) => audio.find(alias, at, () => findAudioByAlias(pool, alias)),
    findPlatformAddress: (host, pathSlug, at) =>
      addresses.find(`${host}/${pathSlug}`, at, () => findPlatformAddress(pool, host, pathSlug)),
    listHalts: (workspaceId, at) => halts.find(workspaceId, at, () => listHalts(pool, workspaceId)),
    getAdContext: (place, at) => contexts.find(place.episodeId, at, () => getAdContext(pool, place, at)),
    getComposition: (episodeId, at) => compositions.find(episodeId, at, () => getComposition(pool, episodeId)),
    findPresentedDigest: async (episodeId, at) => {
      const read = async () => ({ digest: await findPresentedDigest(pool, episodeId) });
      return (await presented.find(episodeId, at, read)).digest;
    },
    getVisibility: (episodeId, at) => visibilities.find(episodeId, at, () => getVisibility(pool, episodeId)),
    findReportTokenDays: async (episodeId, at) => {
      const read = async () => ({ days: await findReportTokenDays(pool, episodeId) });
      return (await tokenDays.find(episodeId, at, read)).days;
    },
    forget: () => {
      for (const each of [audio, addresses, halts, contexts, compositions, presented, visibilities, tokenDays])
        each.forget();
    },
  };
}
