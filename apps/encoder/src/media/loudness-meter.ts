import type { Loudness, SourceLoudness } from './gain-plan.ts';

/** Filters that print their measurement at the end of the run: EBU R128. A true peak costs more than all the rest together. */
const meter = (peak: 'sample' | 'true') => `ebur128=peak=${peak}:framelog=verbose`;

export const sourceMeter = meter('sample');
export const resultMeter = meter('true');

/** The summary of `sourceMeter` at the end of ffmpeg's standard error. */
export function parseSourceLoudness(stderr: string): SourceLoudness {
  const { lufs, peakDb } = parseSummary(stderr);
  return { lufs, samplePeakDbfs: peakDb };
}

/** The summary of `resultMeter` at the end of ffmpeg's standard error. */
export function parseLoudness(stderr: string): Loudness {
  const { lufs, peakDb } = parseSummary(stderr);
  return { lufs, truePeakDbtp: peakDb };
}

/** −70 LUFS is the absolute gate of R128: nothing was louder. */
function parseSummary(stderr: string): { readonly lufs: number | null; readonly peakDb: number | null } {
  const summary = stderr.slice(stderr.lastIndexOf('Summary:'));
  const lufs = /Integrated loudness:\s+I:\s+(-?[\d.]+) LUFS/.exec(summary)?.[1];
  const peak = /(?:Sample|True) peak:\s+Peak:\s+(-?[\d.]+|-inf|-?nan) dBFS/.exec(summary)?.[1];
  if (lufs === undefined || peak === undefined) throw new Error('ffmpeg printed no loudness summary');
  return {
    lufs: Number(lufs) <= -70 ? null : Number(lufs),
    peakDb: Number.isFinite(Number(peak)) ? Number(peak) : null,
  };
}
