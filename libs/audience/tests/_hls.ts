import type { DeliveryFact, MediaRangeServed, TrackDescribed } from '@longwave/events';
import { divideCells, userAgentDigest } from '../src/index.ts';
import { fact, layouts, player, seen } from './_facts.ts';

/** A track described in one part: cells of so many seconds each, 1,000 bytes a cell, behind 605 bytes of initialization section. */
function track(name: string, media: TrackDescribed['media'], timescale: number, seconds: number[]): TrackDescribed {
  let start = 0;
  const cells = seconds.map((duration, nth): TrackDescribed['cells'][number] => {
    const ticks = Math.round(duration * timescale);
    start += ticks;
    return [605 + nth * 1000, 1000, start - ticks, ticks];
  });
  const at = '2026-11-02T10:00:00.000Z';
  return {
    kind: 'track_described',
    fact_id: `track ${name}`,
    at,
    track: name,
    media,
    timescale,
    part: 0,
    parts: 1,
    cells,
  };
}

/** The same description in parts of so many cells. */
export function inParts(track: TrackDescribed, size: number): TrackDescribed[] {
  return divideCells(track.cells, size).map((part) => ({
    ...track,
    fact_id: `${track.fact_id} ${part.part}`,
    ...part,
  }));
}

const each = (count: number, seconds: number) => Array.from({ length: count }, () => seconds);

/** Tracks of an episode of 120 s, of one of 30 s and of an ad of 10.816 s. */
export const tracks = {
  /** Cell 20 ends at 59.9 s, cell 21 at 60.0 s. */
  audio: track('audio', 'audio', 48_000, [2.9, ...each(19, 3), 0.1, ...each(20, 3)]),
  video: track('video', 'video', 30_000, each(60, 2)),
  iframe: track('iframe', 'iframe', 30_000, each(240, 0.5)),
  short: track('short', 'audio', 48_000, each(10, 3)),
  ad_audio: track('ad_audio', 'audio', 48_000, [3, 3, 3, 1.816]),
  ad_video: track('ad_video', 'video', 30_000, [3, 3, 3, 1.833]),
} satisfies Record<string, TrackDescribed>;

const agents: Readonly<Record<string, string>> = {
  app: player,
  core: 'AppleCoreMedia/1.0.0.21A329 (iPhone; U; CPU OS 17_0 like Mac OS X; en_us)',
};

export interface HlsRequest {
  readonly at: string;
  readonly address?: string;
  readonly agent?: string;
  readonly play?: string;
  readonly late?: boolean;
  readonly track?: keyof typeof tracks;
  /** From the first to behind the last. */
  readonly cells?: readonly [number, number];
  /** Bytes of the track instead of whole cells, or of the MP3 `long` when there is no track. */
  readonly written?: readonly [number, number][];
  /** Of an ad. */
  readonly serving?: string;
  readonly break?: string;
}

/** The listener's key is the address and the user agent. */
export const listenerOf = ({ address = 'home', agent = 'app' }: Pick<HlsRequest, 'address' | 'agent'>) =>
  `${address} ${agent}`;

const adOf = (servingId: string, breakKey: string) => ({
  serving_id: servingId,
  campaign_id: 'cmp_1',
  line_item_id: 'li_1',
  creative_id: 'crv_1',
  break_key: breakKey,
  slot: 0,
  billable: true,
});

/** The fact of one request, of HLS or of the MP3 with a pre-roll, which is `srv_1`. */
export function hlsFact(request: HlsRequest, nth: number): DeliveryFact {
  const {
    kind: _,
    arrangement_id: __,
    parts: ___,
    ...served
  } = fact({
    fact_id: `fct_${nth}`,
    request_id: `req_${nth}`,
    started_at: request.at,
    at: request.at,
    status: 206,
    listener_key: listenerOf(request),
    address_key: `${request.address ?? 'home'} ${request.at.slice(0, 10)}`,
    user_agent_digest: userAgentDigest(agents[request.agent ?? 'app']!),
  });
  if (request.track === undefined) {
    const written = request.written!.map(([from, to]): [number, number] => [from, to]);
    return fact({ ...served, requested: written, written }, layouts['long']);
  }
  const { cells } = tracks[request.track];
  const [from, to] = request.cells ?? [0, 0];
  const whole: MediaRangeServed['written'] = [[cells[from]![0], cells[Math.max(to, 1) - 1]![0] + 1000]];
  const written = request.written?.map(([a, b]): [number, number] => [a, b]) ?? whole;
  return {
    ...served,
    kind: 'media_range_served',
    requested: written,
    written,
    total_bytes: 605 + cells.length * 1000,
    track: request.track,
    presentation: request.track === 'short' ? 'presentation_short' : 'presentation',
    play_id: request.play ?? 'play_1',
    play_address_key: request.address ?? 'home',
    late: request.late ?? false,
    ...(request.serving !== undefined && { ad: adOf(request.serving, request.break ?? 'pre') }),
  };
}

/** What is needed to count any of these facts. */
export const known: readonly DeliveryFact[] = [...Object.values(agents).map(seen), ...Object.values(tracks)];
