import { divideCells } from '@longwave/audience';
import type { TrackDescribed } from '@longwave/events';
import { newId } from '@longwave/ids';
import type { OpenTrack } from '../presentations/open-track.ts';

/** The facts that say which bytes of a track play when: one for each part of its cells. */
export const describeTrack = (
  {
    digest,
    media,
    reader,
  }: Pick<OpenTrack, 'digest' | 'media'> & { readonly reader: Pick<OpenTrack['reader'], 'index'> },
  at: Date,
): TrackDescribed[] =>
  divideCells(reader.index.cells).map((part) => ({
    kind: 'track_described',
    fact_id: newId('fct'),
    at: at.toISOString(),
    track: digest,
    media,
    timescale: reader.index.timescale,
    ...part,
  }));
