/** Loudness of a source by EBU R128 / ITU-R BS.1770. `null`: silence, or too short to measure. */
export interface SourceLoudness {
  readonly lufs: number | null;
  /** `null`: digital silence. */
  readonly samplePeakDbfs: number | null;
}

/** Loudness of a decoded result, by the same standard. */
export interface Loudness {
  readonly lufs: number | null;
  /** `null`: digital silence. */
  readonly truePeakDbtp: number | null;
}

/** One linear gain, and a limiter only where peaks would exceed the maximum. */
export interface GainPlan {
  readonly gainDb: number;
  /** Sample peak that the limiter allows; absent = no limiter. */
  readonly ceilingDb?: number;
}

export interface LoudnessTarget {
  readonly lufs: number;
  /** Allowed distance from it. */
  readonly toleranceLu: number;
}

/** Highest true peak of the decoded result, one step of the meter below −1 dBTP. */
const maxTruePeak = -1.1;
/** MP3 coding raises peaks, and a true peak lies above the samples: only up to this sample peak does a gain need no limiter. */
const linearPeakDb = -1.8;
/** Where the limiter holds the samples at first: docs/services/encoder.md says how often that suffices. */
const firstCeilingDb = -2.2;
const lowestCeilingDb = -20;

const peakAfter = (gainDb: number, source: SourceLoudness) => (source.samplePeakDbfs ?? -Infinity) + gainDb;

const withFirstCeiling = (gainDb: number, source: SourceLoudness): GainPlan =>
  peakAfter(gainDb, source) > linearPeakDb ? { gainDb, ceilingDb: firstCeilingDb } : { gainDb };

/** The gain that brings a source to the target. Silence is left as it is. */
export function planGain(source: SourceLoudness, targetLufs: number): GainPlan {
  return withFirstCeiling(source.lufs === null ? 0 : round(targetLufs - source.lufs), source);
}

/** True when a result meets peak and loudness; for silence the peak alone counts. */
export function isOnTarget(result: Loudness, source: SourceLoudness, target: LoudnessTarget): boolean {
  return (
    peakExcess(result) <= 0 &&
    (source.lufs === null || Math.abs((result.lufs ?? -70) - target.lufs) <= target.toleranceLu)
  );
}

/** The next plan after a result that was measured and is not on target. */
export function reviseGain(plan: GainPlan, result: Loudness, source: SourceLoudness, target: LoudnessTarget): GainPlan {
  const excess = peakExcess(result);
  const missing = source.lufs === null ? 0 : target.lufs - (result.lufs ?? target.lufs);
  const gainDb = round(plan.gainDb + (Math.abs(missing) > target.toleranceLu ? missing : 0));
  if (plan.ceilingDb === undefined && excess <= 0) return withFirstCeiling(gainDb, source);
  const reached = plan.ceilingDb ?? Math.min(linearPeakDb, peakAfter(plan.gainDb, source));
  const ceilingDb = Math.max(lowestCeilingDb, excess > 0 ? round(reached - excess - 0.2) : reached);
  return peakAfter(gainDb, source) > ceilingDb ? { gainDb, ceilingDb } : { gainDb };
}

/** Orders results: first those whose peak is within bounds, then by distance from the target. Smaller is better. */
export function distanceFromTarget(result: Loudness, targetLufs: number): number {
  const excess = peakExcess(result);
  return (excess > 0 ? 1000 + excess : 0) + Math.abs((result.lufs ?? targetLufs) - targetLufs);
}

const peakExcess = (result: Loudness) => (result.truePeakDbtp ?? -Infinity) - maxTruePeak;
const round = (decibels: number) => Math.round(decibels * 100) / 100;
