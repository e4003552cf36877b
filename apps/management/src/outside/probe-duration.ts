import { Problem } from '@longwave/problems';
import type { RpcClient } from '@longwave/rpc';
import type { ProbeServiceService } from '@longwave/rpc/probe';

/** An audio file in the object store or at an address that a client named. */
export type ProbeSource = { readonly storageKey: string } | { readonly sourceUrl: string };

/** Duration of an audio file in milliseconds, or 0 when it cannot be probed: the encoder then finds the reason. */
export type ProbeDuration = (source: ProbeSource, deadline?: Date) => Promise<number>;

/**
 * Probes files by the encoder, each file once at a time. Throws `temporarily_unavailable` when no encoder answers within 15 s.
 */
export function createProbeDuration(encoder: RpcClient<typeof ProbeServiceService>): ProbeDuration {
  const pending = new Map<string, Promise<number>>();

  async function probe(source: ProbeSource, deadline: Date | undefined): Promise<number> {
    const request = 'storageKey' in source ? source : { storageKey: '', sourceUrl: source.sourceUrl };
    try {
      const { outcome } = await encoder.probe(request, { deadlineMs: 15_000, ...(deadline && { deadline }) });
      return outcome?.$case === 'audio' ? Number(outcome.value.durationMs) : 0;
    } catch (cause) {
      throw new Problem('temporarily_unavailable', 'The encoder is not available. Try again in a moment.', {
        cause,
        retryAfterSeconds: 5,
      });
    }
  }

  return (source, deadline) => {
    const key = JSON.stringify(source);
    let answer = pending.get(key);
    if (!answer) {
      answer = probe(source, deadline).finally(() => pending.delete(key));
      pending.set(key, answer);
    }
    return answer;
  };
}
