import { divideCells } from '@longwave/audience';
import type { TrackDescribed } from '@longwave/events';
import type { CellIndex } from '@longwave/hls-media';
import { newId } from '@longwave/ids';

/** The facts that say which bytes of a track of sound play when: one for each part of its cells. */
export const describeTrack = (
  digest: string,
  { timescale, cells }: Pick<CellIndex, 'timescale' | 'cells'>,
  at: Date,
): TrackDescribed[] =>
  divideCells(cells).map((part) => ({
    kind: 'track_described',
    fact_id: newId('fct'),
    at: at.toISOString(),
    track: digest,
    media: 'audio',
    timescale,
    ...part,
  }));
