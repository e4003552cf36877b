import type { ByteRangeServed, CountedPart } from '@longwave/events';
import type { Listener } from '../listeners/identify-listener.ts';
import type { ByteInterval } from '../http/byte-range.ts';

/** A served file as it is counted. */
export interface CountedMedia {
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly episodeId: string;
  readonly arrangementId: string;
  readonly publishedAt: Date;
  readonly totalBytes: number;
  readonly parts: readonly CountedPart[];
}

export interface MeteredResponse {
  readonly requestId: string;
  readonly method: string;
  readonly startedAt: Date;
  readonly listener: Listener;
  readonly late: boolean;
  readonly listsVersion: string;
}

/** Turns bytes handed to the kernel into facts. */
export interface WrittenMeter {
  /** Bytes [from, to) of the arrangement were handed over. Intervals come in rising order. */
  wrote(from: number, to: number): void;
  /** Reports what was not reported yet. */
  report(): void;
  /** The response is over; reports, at least once per response. */
  end(): void;
}

/** Longest time that written bytes stay unreported. */
const reportWithinMs = 1_000;

/** Measures one response (docs/counting.md#from-a-request-to-a-number, Record): a fact at `report`, at most a second after bytes were written, and at the end. */
export function createWrittenMeter(
  media: CountedMedia,
  response: MeteredResponse,
  status: number,
  requested: readonly ByteInterval[],
  add: (fact: ByteRangeServed) => void,
  now: () => Date,
): WrittenMeter {
  const { listener } = response;
  let pending: ByteInterval | undefined;
  let sequence = 0;
  let timer: NodeJS.Timeout | undefined;

  function emit(): void {
    clearTimeout(timer);
    timer = undefined;
    add({
      kind: 'byte_range_served',
      fact_id: `${response.requestId}:${sequence++}`,
      request_id: response.requestId,
      started_at: response.startedAt.toISOString(),
      at: now().toISOString(),
      workspace_id: media.workspaceId,
      podcast_id: media.podcastId,
      episode_id: media.episodeId,
      arrangement_id: media.arrangementId,
      method: response.method,
      status,
      requested: requested.map(({ from, to }): [number, number] => [from, to]),
      written: pending ? [[pending.from, pending.to]] : [],
      total_bytes: media.totalBytes,
      parts: [...media.parts],
      published_at: media.publishedAt.toISOString(),
      listener_key: listener.key,
      ...(listener.previousKey !== undefined && { previous_listener_key: listener.previousKey }),
      address_key: listener.addressKey,
      address_verdict: listener.addressVerdict,
      ...(listener.addressSafe && { address_safe: true }),
      user_agent_digest: listener.userAgentDigest,
      prefetch: listener.prefetch,
      preload: listener.preload,
      internal: listener.internal,
      ...(listener.webPlayer !== undefined && { web_player: listener.webPlayer }),
      country: listener.country,
      region: listener.region,
      late: response.late,
      lists_version: response.listsVersion,
    });
    pending = undefined;
  }

  return {
    wrote: (from, to) => {
      if (pending && pending.to !== from) emit();
      pending = { from: pending?.from ?? from, to };
      timer ??= setTimeout(emit, reportWithinMs);
    },
    report: () => {
      if (pending) emit();
    },
    end: () => {
      if (pending || sequence === 0) emit();
    },
  };
}
