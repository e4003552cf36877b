import type { ByteRangeServed } from '@longwave/events';
import { fact, seen } from '@longwave/test-kit/delivery-facts';
import fc from 'fast-check';
import { reachedTexts } from './_reached-stages.ts';

/**
 * A second implementation of docs/counting.md for tests, without a line of `libs/audience`: files of 20 bytes that play 5 s each, written
 * bytes as plain sets, every window tried request by request. It shares no code with counting, and so no mistake.
 */

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const msPerByte = 5_000;

interface TinyAd {
  readonly place: string;
  readonly bytes: readonly number[];
}

/** The kind of each byte of two files: one of 19 playing bytes (95 s), and one that is shorter than a minute. */
const files: Readonly<Record<string, { readonly kinds: string; readonly ads: readonly TinyAd[] }>> = {
  long: {
    kinds: 'haaaccccccbbcccccccc',
    ads: [
      { place: 'pre', bytes: [1, 2, 3] },
      { place: 'mid', bytes: [10, 11] },
    ],
  },
  short: { kinds: 'haaacccc', ads: [{ place: 'pre', bytes: [1, 2, 3] }] },
};

/** One record of bytes: `from` up to, not including, `to` of a file, made for a decision or for none. */
export interface TinyRecord {
  readonly listener: 'a' | 'b';
  readonly episode: string;
  readonly minutes: number;
  readonly seconds: number;
  readonly file: 'long' | 'short';
  /** Its servings are the ads of the file; undefined: the record names no serving. */
  readonly decision: 'A' | 'B' | undefined;
  readonly from: number;
  readonly length: number;
}

const startMs = Date.parse('2025-11-02T18:00:00Z');
/** Files and decisions differ in milliseconds, so that no two requests begin at once. */
const atMs = ({ file, decision, minutes, seconds }: TinyRecord) =>
  startMs + minutes * 60_000 + seconds * 1000 + file.length * 10 + (decision?.charCodeAt(0) ?? 0);
const bytesOf = (one: TinyRecord) => {
  const size = files[one.file]!.kinds.length;
  return Array.from({ length: one.length }, (_, nth) => one.from + nth).filter((byte) => byte < size);
};
const servingOf = (one: Pick<TinyRecord, 'decision' | 'file'>, place: string) =>
  `srv ${one.decision} ${one.file} ${place}`;

const tinyRecord: fc.Arbitrary<TinyRecord> = fc
  .record({
    listener: fc.constantFrom('a' as const, 'b' as const),
    episode: fc.constantFrom('ep_1', 'ep_1', 'ep_2'),
    minutes: fc.oneof(
      fc.integer({ min: 0, max: 60 * 60 }),
      fc.constantFrom(0, 1, 2, 359, 360, 361, 24 * 60, 24 * 60 + 1),
    ),
    seconds: fc.integer({ min: 0, max: 59 }),
    file: fc.constantFrom('long' as const, 'long' as const, 'short' as const),
    decision: fc.constantFrom('A' as const, 'A' as const, 'B' as const, undefined),
    from: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 16 })),
    length: fc.oneof(fc.constant(20), fc.integer({ min: 1, max: 12 })),
  })
  .filter((one) => bytesOf(one).length > 0);

/** Records of two listeners over two and a half days: few files, few decisions, sometimes whole files. */
export const tinyRecords: fc.Arbitrary<TinyRecord[]> = fc.array(tinyRecord, { minLength: 1, maxLength: 12 });

const adOf = (one: TinyRecord, place: string) => ({
  serving_id: servingOf(one, place),
  campaign_id: `cmp ${one.decision}`,
  line_item_id: `li ${one.decision}`,
  creative_id: `crv ${place}`,
  break_key: place,
  slot: 0,
  billable: one.decision === 'A' || place === 'pre',
});

/** The parts of a file in facts: each run of equal bytes; an ad without a decision is an `ident`. */
function partsOf(one: TinyRecord): ByteRangeServed['parts'] {
  const { kinds, ads } = files[one.file]!;
  const runs = [...kinds.matchAll(/(.)\1*/g)];
  return runs.map((run) => {
    const span = { from: run.index, to: run.index + run[0].length };
    const place = ads.find(({ bytes }) => bytes[0] === span.from)?.place;
    const duration_ms = run[1] === 'h' ? 0 : run[0].length * msPerByte;
    if (place === undefined) return { kind: run[1] === 'h' ? 'header' : 'content', ...span, duration_ms };
    if (one.decision === undefined) return { kind: 'ident', ...span, duration_ms };
    return { kind: 'ad', ...span, duration_ms, ad: adOf(one, place) };
  });
}

/** The records as facts, each of a request for the whole file, so that none is a probe. */
export const tinyFacts = (records: readonly TinyRecord[]) => [
  ...records.map((one, nth): ByteRangeServed => {
    const startedAt = new Date(atMs(one)).toISOString();
    const size = files[one.file]!.kinds.length;
    return fact({
      fact_id: `fct_${nth}`,
      started_at: startedAt,
      at: startedAt,
      episode_id: one.episode,
      listener_key: one.listener,
      address_key: one.listener,
      arrangement_id: `arr ${one.file} ${one.episode}`,
      requested: [[0, size]],
      written: [[one.from, Math.min(one.from + one.length, size)]],
      total_bytes: size,
      parts: partsOf(one),
    });
  }),
  seen(),
];

/** The records of one minute, file and decision, and their earliest start. */
interface TinyRequest {
  readonly startedAtMs: number;
  readonly order: string;
  readonly records: readonly TinyRecord[];
}

function requestsOf(records: readonly TinyRecord[]): TinyRequest[] {
  const groups = new Map<string, TinyRecord[]>();
  for (const one of records) {
    const name = `${one.file} ${one.decision} ${one.minutes}`;
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  const requests = [...groups].map(([order, own]) => ({
    startedAtMs: Math.min(...own.map(atMs)),
    order,
    records: own,
  }));
  return requests.sort((x, y) => x.startedAtMs - y.startedAtMs);
}

const filesOf = (requests: readonly TinyRequest[]) => [...new Set(requests.map((one) => one.records[0]!.file))];
const recordsOf = (requests: readonly TinyRequest[], file: string) =>
  requests.flatMap((one) => one.records).filter((one) => one.file === file);

/** Playing bytes of a file that are among these records. */
function playedBytes(records: readonly TinyRecord[]): Set<number> {
  const played = new Set<number>();
  for (const one of records)
    for (const byte of bytesOf(one)) if (files[one.file]!.kinds[byte] !== 'h') played.add(byte);
  return played;
}

/** Whether the records have a minute of playing time, or the whole of a shorter file. */
function isEnough(records: readonly TinyRecord[], file: string): boolean {
  const playing = [...files[file]!.kinds].filter((kind) => kind !== 'h').length;
  const needed = playing * msPerByte >= 60_000 ? 60_000 / msPerByte : playing;
  return playedBytes(records).size >= needed;
}

/** The files that reach the threshold, request by request, the first to do so first. */
function enoughFiles(requests: readonly TinyRequest[]): string[] {
  const reached: string[] = [];
  requests.forEach((_, nth) => {
    for (const file of filesOf(requests))
      if (!reached.includes(file) && isEnough(recordsOf(requests.slice(0, nth + 1), file), file)) reached.push(file);
  });
  return reached;
}

/** The servings whose every byte was written for them, request by request: the first whole one gets the place. */
function deliveredServings(requests: readonly TinyRequest[], file: string): string[] {
  const places = new Map<string, string>();
  requests.forEach((_, nth) => {
    for (const { place, bytes } of files[file]!.ads)
      for (const decision of ['A', 'B'] as const) {
        const own = recordsOf(requests.slice(0, nth + 1), file).filter((one) => one.decision === decision);
        const had = new Set(own.flatMap(bytesOf));
        if (!places.has(place) && bytes.every((byte) => had.has(byte)))
          places.set(place, servingOf({ decision, file: file as TinyRecord['file'] }, place));
      }
  });
  return [...places.values()];
}

/** The servings of a file whose every byte was written for them, whoever else got the place. */
const wholeServings = (requests: readonly TinyRequest[], file: string): string[] =>
  (['A', 'B'] as const).flatMap((decision) => {
    const had = new Set(
      recordsOf(requests, file)
        .filter((one) => one.decision === decision)
        .flatMap(bytesOf),
    );
    return files[file]!.ads.filter(({ bytes }) => bytes.every((byte) => had.has(byte))).map(({ place }) =>
      servingOf({ decision, file: file as TinyRecord['file'] }, place),
    );
  });

const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Counts the records of one listener and episode. */
function countListener(records: readonly TinyRecord[]) {
  const { listener: listener_key, episode: episode_id } = records[0]!;
  const requests = requestsOf(records);
  const downloads = [];
  const ads = [];
  const served: { servingId: string; atMs: number }[] = [];
  for (let rest = requests; rest.length > 0;) {
    const [first] = rest as [TinyRequest];
    const sameDay = rest.filter((one) => dateOf(one.startedAtMs) === dateOf(first.startedAtMs));
    const sameDayAndOn = rest.filter((one) => sameDay.includes(one) || one.startedAtMs < first.startedAtMs + dayMs);
    const session = enoughFiles(sameDay).length > 0 ? sameDay : sameDayAndOn;
    rest = rest.filter((one) => !session.includes(one));
    for (const any of filesOf(session))
      for (const servingId of wholeServings(session, any)) served.push({ servingId, atMs: first.startedAtMs });
    const [file, ...others] = enoughFiles(session);
    if (file === undefined) continue;
    const window_on = dateOf(first.startedAtMs);
    const played = playedBytes(recordsOf(session, file));
    downloads.push({
      ...{ listener_key, episode_id, window_on, started_at: new Date(first.startedAtMs) },
      arrangement_id: `arr ${file} ${episode_id}`,
      credited_ms: played.size * msPerByte,
      content_ms: [...played].filter((byte) => files[file]!.kinds[byte] === 'c').length * msPerByte,
      duplicate_arrangements: others.length,
      held: null,
    });
    for (const serving_id of deliveredServings(session, file))
      ads.push({
        ad: { listener_key, episode_id, window_on, serving_id, counted: true },
        startedAtMs: first.startedAtMs,
      });
  }
  const rolling = [];
  let countedMs = -Infinity;
  let previousMs = -Infinity;
  for (let at = 0; at < requests.length;) {
    const started = requests[at]!.startedAtMs;
    const lengths = requests.slice(at).map((_, nth) => nth + 1);
    const length = lengths.find((many) => {
      const run = requests.slice(at, at + many);
      return run.at(-1)!.startedAtMs < started + dayMs && enoughFiles(run).length > 0;
    });
    at += length ?? 1;
    if (length === undefined) continue;
    if (started - countedMs >= dayMs) {
      const last_touch = started - previousMs >= dayMs;
      rolling.push({ listener_key, episode_id, started_at: new Date(started), last_touch, counted: true });
      countedMs = started;
    }
    previousMs = started;
  }
  return { downloads, ads, served, rolling };
}

const inOrder = <R extends object>(rows: R[]): R[] =>
  rows.sort((x, y) => (JSON.stringify(Object.values(x)) < JSON.stringify(Object.values(y)) ? -1 : 1));

/** Counts records, in the form of `stored` in `_counts.ts`. */
export function countByteByByte(records: readonly TinyRecord[]) {
  const listeners = new Map<string, TinyRecord[]>();
  for (const one of records) {
    const name = `${one.listener} ${one.episode}`;
    listeners.set(name, [...(listeners.get(name) ?? []), one]);
  }
  const counted = [...listeners.values()].map(countListener);
  const ads = counted.flatMap((one) => one.ads);
  const isBilled = (servingId: string) => servingId.startsWith('srv A') || servingId.endsWith(' pre');
  const billed = [...new Set(ads.map(({ ad }) => ad.serving_id))].filter(isBilled).map((servingId) => {
    const [{ ad, startedAtMs }] = ads
      .filter((one) => one.ad.serving_id === servingId)
      .sort(
        (x, y) =>
          x.startedAtMs - y.startedAtMs ||
          (`${x.ad.listener_key} ${x.ad.episode_id}` < `${y.ad.listener_key} ${y.ad.episode_id}` ? -1 : 1),
      ) as [(typeof ads)[number]];
    const { listener_key, episode_id, window_on } = ad;
    const hour = new Date(Math.floor(startedAtMs / hourMs) * hourMs);
    return { serving_id: servingId, listener_key, episode_id, window_on, hour };
  });
  return {
    downloads: inOrder(counted.flatMap((one) => one.downloads)),
    rolling: inOrder(counted.flatMap((one) => one.rolling)),
    ads: inOrder(ads.map(({ ad }) => ad)),
    billed: inOrder(billed),
    reached: [
      ...reachedTexts(
        'served',
        counted.flatMap((one) => one.served),
      ),
      ...reachedTexts(
        'confirmed',
        ads.map(({ ad, startedAtMs }) => ({ servingId: ad.serving_id, atMs: startedAtMs })),
      ),
    ].sort(),
  };
}
