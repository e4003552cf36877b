import type { FleetAccess } from '@longwave/fleet';
import { runJob } from '@longwave/local/job';
import { samples } from '@longwave/local/samples';

/**
 * A complete trial run, with the error of each step that failed.
 * @param options.hls the listener also plays by HLS
 */
export async function makeTrialRun(
  fleet: FleetAccess,
  { audio = samples.audio, hls = false }: { readonly audio?: string; readonly hls?: boolean } = {},
) {
  const failures: string[] = [];
  const result = await runJob({
    fleet,
    audio,
    hls,
    ad: samples.ad,
    report: {
      step: async (name, run) =>
        void (await run(() => undefined).catch((error: Error) => {
          failures.push(`${name}: ${error.message}`);
          throw error;
        })),
    },
  });
  return { ...result, failures };
}
