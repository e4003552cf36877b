import type { GainPlan } from './gain-plan.ts';
import { toCanonicalPcm } from './measure-source.ts';

/** Filters that convert any sound to canonical PCM at the loudness of a plan: those that all encodings of it share, in order. */
export const gainFilters = ({ gainDb, ceilingDb }: GainPlan): string[] => [
  toCanonicalPcm,
  `volume=${gainDb}dB`,
  // `latency` takes its look-ahead back.
  ...(ceilingDb === undefined
    ? []
    : [`alimiter=limit=${10 ** (ceilingDb / 20)}:attack=5:release=50:level=disabled:latency=1`]),
];
