/** One step of the job: its name, whether it passed, how long it took. */
interface StepResult {
  readonly name: string;
  readonly ok: boolean;
  readonly ms: number;
}

/** The last line of `npm run demo -- --json`. Absent parts belong to steps that were not reached. */
export interface JobResult {
  ok: boolean;
  steps: StepResult[];
  podcast_id?: string;
  episode_id?: string;
  production?: {
    readonly state: string;
    readonly audio_duration_ms: number;
    readonly loudness_lufs: number | null;
    readonly files: readonly {
      readonly role: string;
      readonly format: string;
      readonly size: number;
      readonly url: string;
    }[];
  };
  feed_url?: string;
  enclosure_url?: string;
  download?: { readonly status: number; readonly bytes: number; readonly sha256: string; readonly etag: string };
  arrangement?: {
    readonly parts: readonly { readonly kind: string; readonly duration_ms: number; readonly bytes: number }[];
  };
  ranges_checked?: number;
  /** With `--hls`: the play of the listener who downloaded, and the ads that both surfaces had. */
  hls?: {
    readonly entry_url: string;
    readonly content_seconds: number;
    readonly segments: number;
    readonly servings: readonly { readonly break: string; readonly serving_id: string }[];
  };
  /** More than one listener when the machine was too busy to decide for the first in time. Each is one download; the last gets the ad. */
  analytics?: { readonly listeners: number; readonly downloads: number; readonly ads_delivered: number };
}

/** Shows progress. `step` runs one step and shows its result (what `run` answers) and time. */
export interface JobReporter {
  step(name: string, run: (progress: (fraction: number) => void) => Promise<string>): Promise<void>;
}
