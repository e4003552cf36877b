import type { Loudness } from './gain-plan.ts';

/** Filter that prints its measurement at the end of the run: EBU R128 with true peak. */
export const loudnessMeter = 'ebur128=peak=true:framelog=verbose';

/** The summary that ffmpeg's ebur128 filter prints at its end; −70 LUFS is the absolute gate of R128: nothing was louder. */
export function parseLoudness(stderr: string): Loudness {
  const summary = stderr.slice(stderr.lastIndexOf('Summary:'));
  const lufs = /Integrated loudness:\s+I:\s+(-?[\d.]+) LUFS/.exec(summary)?.[1];
  const peak = /True peak:\s+Peak:\s+(-?[\d.]+|-inf|-?nan) dBFS/.exec(summary)?.[1];
  if (lufs === undefined || peak === undefined) throw new Error('ffmpeg printed no loudness summary');
  return {
    lufs: Number(lufs) <= -70 ? null : Number(lufs),
    truePeakDbtp: Number.isFinite(Number(peak)) ? Number(peak) : null,
  };
}
