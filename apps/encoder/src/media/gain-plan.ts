/** Loudness by EBU R128 / ITU-R BS.1770. `null`: silence, or too short to measure. */
export interface Loudness {
  readonly lufs: number | null;
  /** `null`: digital silence. */
  readonly truePeakDbtp: number | null;
}

/** One linear gain, and a limiter only where peaks would exceed the maximum. */
export interface GainPlan {
  readonly gainDb: number;
  /** Limiter threshold; absent = no limiter. */
  readonly ceilingDb?: number;
}

export interface LoudnessTarget {
  readonly lufs: number;
  /** Allowed distance from it. */
  readonly toleranceLu: number;
}

/** Highest true peak of the decoded result, one step of the meter below −1 dBTP. */
const maxTruePeak = -1.1;
/** MP3 coding raises peaks: only below this does a gain need no limiter. */
const firstCeilingDb = -1.8;
const lowestCeilingDb = -20;

const withCeiling = (gainDb: number, source: Loudness, ceilingDb: number): GainPlan =>
  (source.truePeakDbtp ?? -Infinity) + gainDb > ceilingDb
    ? { gainDb, ceilingDb: Math.max(lowestCeilingDb, ceilingDb) }
    : { gainDb };

/** The gain that brings a source to the target. Silence is left as it is. */
export function planGain(source: Loudness, targetLufs: number): GainPlan {
  return withCeiling(source.lufs === null ? 0 : round(targetLufs - source.lufs), source, firstCeilingDb);
}

/** True when a result meets peak and loudness; for silence the peak alone counts. */
export function isOnTarget(result: Loudness, source: Loudness, target: LoudnessTarget): boolean {
  return (
    peakExcess(result) <= 0 &&
    (source.lufs === null || Math.abs((result.lufs ?? -70) - target.lufs) <= target.toleranceLu)
  );
}

/** The next plan after a result that was measured and is not on target. */
export function reviseGain(plan: GainPlan, result: Loudness, source: Loudness, target: LoudnessTarget): GainPlan {
  const excess = peakExcess(result);
  const reached = plan.ceilingDb ?? Math.min(firstCeilingDb, (source.truePeakDbtp ?? 0) + plan.gainDb);
  const ceilingDb = excess > 0 ? round(reached - excess - 0.2) : reached;
  const missing = source.lufs === null ? 0 : target.lufs - (result.lufs ?? target.lufs);
  return withCeiling(
    round(plan.gainDb + (Math.abs(missing) > target.toleranceLu ? missing : 0)),
    source,
    plan.ceilingDb === undefined && excess <= 0 ? firstCeilingDb : ceilingDb,
  );
}

/** Orders results: first those whose peak is within bounds, then by distance from the target. Smaller is better. */
export function distanceFromTarget(result: Loudness, targetLufs: number): number {
  const excess = peakExcess(result);
  return (excess > 0 ? 1000 + excess : 0) + Math.abs((result.lufs ?? targetLufs) - targetLufs);
}

const peakExcess = (result: Loudness) => (result.truePeakDbtp ?? -Infinity) - maxTruePeak;
const round = (decibels: number) => Math.round(decibels * 100) / 100;
