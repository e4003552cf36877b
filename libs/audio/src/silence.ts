/** A span without sound: [start, end) in whole milliseconds. */
export type Silence = readonly [startMs: number, endMs: number];

export interface SilenceFinder {
  /** Takes 16-bit samples, channels interleaved. */
  push(samples: Int16Array): void;
  /** In order, apart from each other; of more than `maxSilences` the longest. */
  finish(): Silence[];
}

export const maxSilences = 2000;
/** The shortest silence that a cut may move to. */
const minSilenceMs = 300;
const quietestSound = 32_768 * 10 ** (-50 / 20);

/**
 * Finds spans in which no sample of any channel reaches −50 dBFS, of at least 300 ms. Exact to the sample, rounded inwards to
 * milliseconds; ffmpeg's silencedetect prints six digits, which are tenths of a second in the third hour.
 */
export function createSilenceFinder(sampleRate: number, channels: number): SilenceFinder {
  const found: Silence[] = [];
  const samplesPerSecond = sampleRate * channels;
  let position = 0;
  let quietFrom = 0;
  const close = (at: number) => {
    const startMs = Math.ceil((quietFrom * 1000) / samplesPerSecond);
    const endMs = Math.floor(((at - (at % channels)) * 1000) / samplesPerSecond);
    if (endMs - startMs >= minSilenceMs) found.push([startMs, endMs]);
  };
  return {
    push: (samples) => {
      for (let i = 0; i < samples.length; i++) {
        const sample = samples[i]!;
        if (sample < quietestSound && sample > -quietestSound) continue;
        const at = position + i;
        if (at > quietFrom) close(at);
        quietFrom = at - (at % channels) + channels;
      }
      position += samples.length;
    },
    finish: () => {
      close(position);
      if (found.length <= maxSilences) return found;
      const longest = found.toSorted((a, b) => b[1] - b[0] - (a[1] - a[0])).slice(0, maxSilences);
      return longest.sort((a, b) => a[0] - b[0]);
    },
  };
}
