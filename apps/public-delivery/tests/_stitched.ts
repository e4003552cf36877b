import type { DecideRequest } from '@longwave/rpc/serving';
import { sha256 } from '@longwave/test-kit';
import { apply, next, ofWorkspace } from './_apply.ts';
import { frameBytes, makeShow, noAds, pickOf, workspaceId, type Bench, type Show } from './_support.ts';

export const durationOf = (bytes: Buffer): number => (bytes.length / frameBytes) * 24;

export interface StoredSegment {
  readonly stream_format: string;
  readonly storage_key: string;
  readonly sha256: string;
  readonly size_bytes: number;
  readonly duration_ms: number;
}

/** Puts the audio of an intro, outro or ad into the store. */
export async function storeSegment({ store }: Bench, bytes: Buffer): Promise<StoredSegment> {
  const digest = sha256(bytes);
  await store.put(`media/${digest}`, bytes, { contentType: 'audio/mpeg' });
  return {
    stream_format: 'mp3/128000/48000/2',
    storage_key: `media/${digest}`,
    sha256: digest,
    size_bytes: bytes.length,
    duration_ms: durationOf(bytes),
  };
}

export interface Marker {
  readonly key: string;
  readonly kind: 'pre' | 'mid' | 'post';
  readonly position_ms: number;
  readonly max_slots: number;
}

/** A published show whose events are applied, and its enclosure. */
export async function publishShow(
  bench: Bench,
  content: Buffer,
  episode: Record<string, unknown> = {},
  production: Record<string, unknown> = {},
  workspace: string = workspaceId,
): Promise<Show & { readonly enclosure: string }> {
  const show = await makeShow(bench.store, content, episode);
  const events = {
    podcast: ofWorkspace(show.events.podcast, workspace),
    episode: ofWorkspace(show.events.episode, workspace),
    production: ofWorkspace(next(show.events.production, production), workspace),
  };
  await apply(bench, events.podcast, events.episode, events.production);
  const { rows } = await bench.pool.query<{ alias: string; file_name: string }>(
    'select alias, file_name from alias where episode_id = $1',
    [show.episodeId],
  );
  return { ...show, events, enclosure: `/delivery/v1/e/${rows[0]!.alias}/${rows[0]!.file_name}.mp3` };
}

/** Lets decisions give these ads, by break and slot; a slot without one stays empty. Answers the ad of each slot. */
export function giveAds(bench: Bench, adOf: (breakKey: string, slot: number) => Buffer | undefined): void {
  bench.serving.answer = async (request: DecideRequest) => ({
    ...noAds(request),
    servingPlanId: 'spl_1',
    picks: request.breaks.flatMap(({ key, maxSlots }) =>
      Array.from({ length: maxSlots }, (_, slot) => ({ slot, ad: adOf(key, slot) })).flatMap(({ slot, ad }) =>
        ad ? [{ ...pickOf(ad), breakKey: key, slot }] : [],
      ),
    ),
  });
}
