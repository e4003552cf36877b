import { divideCells, userAgentDigest } from '@longwave/audience';
import type { ByteRangeServed, MediaRangeServed, TrackDescribed, UserAgentSeen } from '@longwave/events';
import fc from 'fast-check';
import { fact, player, seen } from './delivery-facts.ts';

/** The media player of Apple's systems, as some apps use it beside their own. */
export const mediaPlayer = 'AppleCoreMedia/1.0.0.21A329 (iPhone; U; CPU OS 17_0 like Mac OS X; en_us)';

/** A description of a track whose cells have 1,000 bytes each, behind 605 bytes of initialization section. */
function describe(track: string, media: TrackDescribed['media'], count: number, seconds: number): TrackDescribed {
  const timescale = media === 'audio' ? 48_000 : 30_000;
  const cells = Array.from({ length: count }, (_, nth): TrackDescribed['cells'][number] => [
    605 + nth * 1000,
    1000,
    nth * seconds * timescale,
    seconds * timescale,
  ]);
  return {
    kind: 'track_described',
    fact_id: `track ${track}`,
    at: '2025-10-30T20:00:00.000Z',
    track,
    media,
    timescale,
    ...{ part: 0, parts: 1 },
    cells,
  };
}

/** The same description in up to three parts. */
export function inParts(track: TrackDescribed): TrackDescribed[] {
  const parts = divideCells(track.cells, Math.ceil(track.cells.length / 3));
  return parts.map((part) => ({ ...track, fact_id: `${track.fact_id} ${part.part}`, ...part }));
}

/** The tracks of an episode of 120 s and of an ad of 12 s. */
export const described = {
  audio: describe('audio', 'audio', 40, 3),
  video: describe('video', 'video', 60, 2),
  iframe: describe('iframe', 'iframe', 240, 0.5),
  ad_audio: describe('ad_audio', 'audio', 4, 3),
  ad_video: describe('ad_video', 'video', 6, 2),
} satisfies Record<string, TrackDescribed>;

/** A fact of a whole track of a play, with the changes of a test. */
export function mediaFact(
  track: keyof typeof described,
  changes: Partial<MediaRangeServed> & { fact_id: string },
): MediaRangeServed {
  const { arrangement_id: _, parts: __, kind: ___, ...served } = fact({ fact_id: changes.fact_id });
  const total_bytes = 605 + described[track].cells.length * 1000;
  return {
    ...served,
    kind: 'media_range_served',
    at: changes.started_at ?? served.at,
    request_id: `req_${changes.fact_id}`,
    status: 206,
    requested: [[0, total_bytes]],
    written: [[0, total_bytes]],
    total_bytes,
    track,
    presentation: 'presentation_1',
    play_id: 'play_1',
    play_address_key: 'home',
    ...changes,
  };
}

const start = Date.parse('2025-10-30T20:00:00Z');

/** Requests of few listeners over four days, around midnights and the change of secrets, half of them within the first. */
const requests = fc.array(
  fc.record({
    kind: fc.constantFrom('mp3', 'audio', 'audio', 'video', 'ad_audio', 'ad_video', 'iframe' as const),
    address: fc.constantFrom('home', 'work', 'train'),
    agent: fc.constantFrom(player, mediaPlayer),
    episode: fc.constantFrom('ep_1', 'ep_2'),
    play: fc.integer({ min: 1, max: 6 }),
    late: fc.constantFrom(false, false, true),
    serving: fc.integer({ min: 1, max: 3 }),
    minutes: fc.oneof(fc.nat({ max: 4 * 24 * 60 }), fc.nat({ max: 24 * 60 })),
    from: fc.integer({ min: 0, max: 99 }),
    length: fc.integer({ min: 10, max: 100 }),
  }),
  { minLength: 70, maxLength: 70 },
);

/** Random facts of plays and, among them, of the MP3, with what they name; tracks come in parts. Equal seeds give equal facts. */
export function randomMediaFacts(
  seed: number,
): (ByteRangeServed | MediaRangeServed | TrackDescribed | UserAgentSeen)[] {
  const [list = []] = fc.sample(requests, { seed, numRuns: 1 });
  const served = list.flatMap((one, nth): (ByteRangeServed | MediaRangeServed)[] => {
    const started_at = new Date(start + one.minutes * 60_000).toISOString();
    const keyOf = (month: number) => `${one.address} ${one.agent.slice(0, 5)} ${month}`;
    const month = Number(started_at.slice(5, 7));
    const changes = {
      ...{ started_at, at: started_at, episode_id: one.episode, request_id: `req_media_${nth}` },
      listener_key: keyOf(month),
      ...(month === 11 && started_at < '2025-11-03' && { previous_listener_key: keyOf(10) }),
      address_key: `${one.address} ${started_at.slice(0, 10)}`,
      user_agent_digest: userAgentDigest(one.agent),
    };
    if (one.kind === 'mp3') return [fact({ ...changes, fact_id: `media_${nth}`, written: [[0, one.length * 20_000]] })];
    const total = described[one.kind].cells.length * 1000;
    const from = 605 + Math.floor((total * one.from) / 200);
    const to = Math.min(605 + total, from + Math.ceil((total * one.length) / 90));
    const middle = (from + to) >> 1;
    const pieces: [number, number][] = [
      [from, middle],
      [middle, to],
    ];
    const ad = {
      campaign_id: 'cmp_1',
      line_item_id: 'li_1',
      creative_id: 'crv_1',
      break_key: 'pre',
      slot: 0,
      billable: true,
    };
    return pieces.map((piece, sequence) =>
      mediaFact(one.kind as keyof typeof described, {
        ...changes,
        fact_id: `media_${nth}.${sequence}`,
        presentation: `presentation ${one.episode}`,
        play_id: `play ${one.play} ${one.episode}`,
        play_address_key: one.address,
        late: one.late,
        requested: [[from, to]],
        written: [piece],
        ...(one.kind.startsWith('ad') && { ad: { ...ad, serving_id: `srv_${one.serving}` } }),
      }),
    );
  });
  return [...served, seen(player), seen(mediaPlayer), ...Object.values(described).flatMap(inParts)];
}
