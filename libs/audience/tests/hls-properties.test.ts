import { expect, test } from '@jest/globals';
import type { DeliveryFact } from '@longwave/events';
import fc from 'fast-check';
import { recount } from '../src/index.ts';
import { lists, numbers } from './_facts.ts';
import { hlsFact, inParts, known, tracks, type HlsRequest } from './_hls.ts';

const start = Date.parse('2026-11-02T20:00:00Z');
const timeOf = (minutes: number) => new Date(start + minutes * 60_000).toISOString();

const track = fc.constantFrom('audio', 'audio', 'video', 'iframe', 'ad_audio', 'ad_video' as const);

/** A range of bytes of a track, in steps of 250 bytes: a quarter of a cell. */
const rangeOf = (name: keyof typeof tracks) => {
  const most = tracks[name].cells.length * 4;
  return fc
    .tuple(fc.nat({ max: most }), fc.nat({ max: most }))
    .map(([a, b]): [number, number] => [605 + Math.min(a, b) * 250, 605 + Math.max(a, b) * 250]);
};

/** Requests of a play by few keys over two days, for the content and for two servings, among others for the MP3. */
const media: fc.Arbitrary<HlsRequest> = track.chain((name) =>
  fc.record({
    track: fc.constant(name),
    at: fc.nat({ max: 40 * 60 }).map(timeOf),
    address: fc.constantFrom('home', 'train'),
    agent: fc.constantFrom('app', 'core'),
    play: fc.constantFrom('play_1', 'play_2'),
    late: fc.constantFrom(false, false, true),
    written: rangeOf(name).map((range) => [range]),
    ...(name.startsWith('ad') && { serving: fc.constantFrom('srv_1', 'srv_2'), break: fc.constant('mid-1') }),
  }),
);
const mp3: fc.Arbitrary<HlsRequest> = fc.record({
  at: fc.nat({ max: 40 * 60 }).map(timeOf),
  address: fc.constantFrom('home', 'train'),
  written: fc.constantFrom<[number, number]>([0, 2_081_000], [0, 161_000], [161_000, 900_000]).map((range) => [range]),
});
const requests = fc.array(fc.oneof({ arbitrary: media, weight: 5 }, { arbitrary: mp3, weight: 1 }), { maxLength: 16 });

const count = (facts: readonly DeliveryFact[]) => numbers(recount(facts, lists.userAgents));

test('any order and multiplicity of facts, of their halves and of parts of descriptions gives the same numbers', () => {
  const arrivals = requests.chain((list) => {
    const facts = [...list.map(hlsFact), ...known];
    const halves = facts.flatMap((one): DeliveryFact[] => {
      if (one.kind === 'track_described') return [...inParts(one, 7), ...inParts(one, 7)];
      if (one.kind !== 'media_range_served' && one.kind !== 'byte_range_served') return [one, one];
      const [[from, to]] = one.written as [[number, number]];
      const middle = (from + to) >> 1;
      return [
        { ...one, fact_id: `${one.fact_id}.0`, written: [[from, middle] as [number, number]] },
        { ...one, fact_id: `${one.fact_id}.1`, written: [[middle, to] as [number, number]] },
      ];
    });
    const arrived = fc.shuffledSubarray([...halves, ...halves], { minLength: 2 * halves.length });
    return fc.record({ facts: fc.constant(facts), arrived });
  });
  fc.assert(fc.property(arrivals, ({ facts, arrived }) => expect(count(arrived)).toEqual(count(facts))));
});

test('what is credited is the time in which a cell of sound or pictures was written byte for byte', () => {
  const content = fc.array(
    fc
      .constantFrom('audio' as const, 'video' as const)
      .chain((name) => fc.record({ track: fc.constant(name), written: rangeOf(name).map((range) => [range]) })),
    { minLength: 1, maxLength: 8 },
  );
  fc.assert(
    fc.property(content, (list) => {
      const tenths = new Set<number>();
      for (const name of ['audio', 'video'] as const) {
        const quarters = new Set<number>();
        for (const { written } of list.filter((one) => one.track === name))
          for (let at = written[0]![0]; at < written[0]![1]; at += 250) quarters.add(at);
        for (const [offset, , from, duration] of tracks[name].cells) {
          const tenth = tracks[name].timescale / 10;
          if ([0, 250, 500, 750].every((quarter) => quarters.has(offset + quarter)))
            for (let at = from; at < from + duration; at += tenth) tenths.add(at / tenth);
        }
      }
      const facts = list.map((one, nth) => hlsFact({ ...one, at: timeOf(nth) }, nth));
      const { download } = recount([...facts, ...known], lists.userAgents).sessions[0]?.session ?? {};
      expect(download?.creditedMs).toBe(tenths.size >= 600 ? tenths.size * 100 : undefined);
    }),
  );
});

test('each day of a listener has one download at most, and a window delivers a serving once', () => {
  fc.assert(
    fc.property(requests, (list) => {
      const { sessions } = recount([...list.map(hlsFact), ...known], lists.userAgents);
      const counted = sessions.filter(({ session }) => session.download);
      const days = counted.map(({ session }) => `${session.first.listenerKey} ${session.windowOn}`);
      expect(new Set(days).size).toBe(days.length);
      for (const { session } of counted) {
        const servings = session.download!.ads.map((ad) => ad.servingId);
        expect(new Set(servings).size).toBe(servings.length);
      }
    }),
  );
});
