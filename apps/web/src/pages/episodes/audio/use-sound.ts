import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Answer } from '../../../api/queries.ts';
import { artworkAddress } from '../../../parts/artwork-address.ts';
import { player } from '../../../parts/player/use-player.ts';
import { parsePeaks, type Peaks } from '../../../parts/waveform/columns.ts';
import { podcastQuery } from '../../podcasts/podcast-queries.ts';
import { productionQuery } from '../episode-queries.ts';
import { waveformQuery } from './audio-queries.ts';

/** What the player says of an episode. */
export interface Heard {
  readonly productionId: string;
  readonly durationMs: number;
  readonly title: string;
  readonly artist: string | undefined;
  readonly artworkUrl: string | undefined;
}

/** The recording of an episode as the player has it; undefined until it is known, and where there is none that can be heard. */
export function useHeard(episode: Answer<'/episodes/{id}'>): Heard | undefined {
  const { title, current_production_id: productionId } = episode;
  const { data: podcast } = useQuery(podcastQuery(episode.podcast_id));
  const { data: production } = useQuery({
    ...productionQuery(productionId ?? ''),
    enabled: productionId !== undefined,
  });
  const durationMs = production?.audio_duration_ms ?? 0;
  if (production?.state !== 'encoded' || durationMs === 0) return undefined;
  const artworkUrl = artworkAddress(episode.artwork ?? podcast?.artwork, 512);
  return { productionId: production.id, durationMs, title, artist: podcast?.title, artworkUrl };
}

/** Gives the recording of an episode to the player, which asks for its address once somebody listens. */
export function useSound({ productionId, durationMs, title, artist, artworkUrl }: Heard): void {
  const queries = useQueryClient();
  useEffect(() => {
    const query = waveformQuery(productionId);
    player.take({
      ...{ key: productionId, durationMs, title, artist, artworkUrl },
      findUrl: async (isNew) => {
        const { data } = await queries.fetchQuery({ ...query, staleTime: isNew ? 0 : Infinity });
        if (data.audio_url === undefined) throw new Error(`${productionId} has no audio`);
        return data.audio_url;
      },
    });
  }, [queries, productionId, durationMs, title, artist, artworkUrl]);
}

/** Whether the recording may be heard: its peaks are for everybody who sees it, its audio for those who edit it. */
export const useMayHear = (productionId: string): boolean =>
  useQuery(waveformQuery(productionId)).data?.audio_url !== undefined;

/** The peaks of a recording, once: they are large and never change. Undefined until they are there, and where they cannot be had. */
export function usePeaks(productionId: string): Peaks | undefined {
  const queries = useQueryClient();
  const [read, setRead] = useState<{ readonly of: string; readonly peaks: Peaks }>();
  useEffect(() => {
    const ending = new AbortController();
    const load = async () => {
      const { data } = await queries.fetchQuery(waveformQuery(productionId));
      const answer = await fetch(data.url, { signal: ending.signal });
      if (answer.ok) setRead({ of: productionId, peaks: parsePeaks(await answer.json()) });
    };
    // Without peaks the line is flat, and everything else works.
    load().catch(() => undefined);
    return () => ending.abort();
  }, [queries, productionId]);
  return read?.of === productionId ? read.peaks : undefined;
}
