import type { ByteRangeServed, CountedPart, MediaRangeServed } from '@longwave/events';
import { tracePosition } from '@longwave/service-kit';
import { listenerKeyOf, typeOf, type FactLine } from '../facts/fact-line.ts';
import type { ByteInterval } from '../http/byte-range.ts';
import type { Listener } from '../listeners/identify-listener.ts';

/** A served file of MP3 as it is counted. */
export interface CountedMedia {
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly episodeId: string;
  readonly arrangementId: string;
  readonly publishedAt: Date;
  readonly totalBytes: number;
  readonly parts: readonly CountedPart[];
}

/** What all facts about a served file have in common: `text` are members of a JSON object. */
export interface CountedFile {
  readonly kind: 'byte_range_served' | 'media_range_served';
  readonly episodeId: string;
  readonly totalBytes: number;
  readonly text: string;
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
  /** The response is over, with these bytes as its last; reports, at least once per response. */
  end(last?: ByteInterval): void;
}

/** Longest time that written bytes stay unreported. */
const reportWithinMs = 1_000;

/** The members of a JSON object as text. */
export const members = (object: Partial<ByteRangeServed> | Partial<MediaRangeServed>) =>
  JSON.stringify(object).slice(1, -1);

const countedFiles = new WeakMap<CountedMedia, CountedFile>();

/** The same of a file of MP3, made into text once. */
export function countedFileOf(media: CountedMedia): CountedFile {
  const known = countedFiles.get(media);
  if (known !== undefined) return known;
  const text = members({
    workspace_id: media.workspaceId,
    podcast_id: media.podcastId,
    episode_id: media.episodeId,
    arrangement_id: media.arrangementId,
    total_bytes: media.totalBytes,
    parts: [...media.parts],
    published_at: media.publishedAt.toISOString(),
  });
  const { episodeId, totalBytes } = media;
  const file = { kind: 'byte_range_served', episodeId, totalBytes, text } as const;
  countedFiles.set(media, file);
  return file;
}

/** The same of one response. */
const responseTextOf = (
  { requestId, startedAt, method, listener, late, listsVersion }: MeteredResponse,
  status: number,
  requested: readonly ByteInterval[],
): string =>
  members({
    request_id: requestId,
    started_at: startedAt.toISOString(),
    method,
    status,
    requested: requested.map(({ from, to }): [number, number] => [from, to]),
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
    late,
    lists_version: listsVersion,
  });

/** Measures one response (docs/counting.md#from-a-request-to-a-number, Record): a fact at `report`, at most a second after bytes were written, and at the end. */
export function createWrittenMeter(
  file: CountedFile,
  response: MeteredResponse,
  status: number,
  requested: readonly ByteInterval[],
  add: (fact: FactLine, writtenBytes: number) => void,
  now: () => Date,
): WrittenMeter {
  const key = listenerKeyOf(response.listener.key, file.episodeId);
  const traceparent = tracePosition();
  let common: string | undefined;
  let pending: ByteInterval | undefined;
  let sequence = 0;
  let timer: NodeJS.Timeout | undefined;

  function emit(): void {
    clearTimeout(timer);
    timer = undefined;
    common ??= `${responseTextOf(response, status, requested)},${file.text}`;
    const id = `${response.requestId}:${sequence++}`;
    const written = pending ? `[[${pending.from},${pending.to}]]` : '[]';
    const own = `"kind":"${file.kind}","fact_id":"${id}","at":"${now().toISOString()}","written":${written}`;
    add(
      { type: typeOf(file.kind), key, id, json: `{${own},${common}}`, traceparent },
      pending ? pending.to - pending.from : 0,
    );
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
    end: (last) => {
      pending = last ?? pending;
      if (pending || sequence === 0) emit();
    },
  };
}
