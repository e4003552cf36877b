import { expectedEncodingMs } from '../../background/job-order.ts';

/** The loudnesses of an ad's streams: one is within 1 LU of any usual episode (docs/adr/0014). */
export const adLoudnessesLufs = [-24, -22, -20, -18, -16, -14];

/** How long an encoder needs for all of them: an MP3 and a track of HLS each. */
export const expectedLadderMs = (sizeBytes: number): number =>
  expectedEncodingMs({ sizeBytes, times: 2 * adLoudnessesLufs.length });
