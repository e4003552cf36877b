import { Problem } from '@longwave/problems';
import type { RpcClient } from '@longwave/rpc';
import type { ProbeServiceService } from '@longwave/rpc/probe';

/** The place of an audio file: the object store, or an address that a client named. */
export type ProbeSource = { readonly storageKey: string } | { readonly sourceUrl: string };

/** Duration of an audio file in milliseconds, or 0 when it cannot be read: then the encoder finds out and says why. */
export type ProbeDuration = (source: ProbeSource, deadline?: Date) => Promise<number>;

/**
 * Asks the encoder how long a file is; 0 when it cannot be read. Equal questions at the same time are asked once.
 * Throws `temporarily_unavailable` when no encoder answers within 15 s.
 */
export function createProbeDuration(encoder: RpcClient<typeof ProbeServiceService>): ProbeDuration {
  const asked = new Map<string, Promise<number>>();

  async function ask(source: ProbeSource, deadline: Date | undefined): Promise<number> {
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
    let answer = asked.get(key);
    if (!answer) {
      answer = ask(source, deadline).finally(() => asked.delete(key));
      asked.set(key, answer);
    }
    return answer;
  };
}
