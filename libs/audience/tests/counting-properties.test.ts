import { expect, test } from '@jest/globals';
import type { ByteRangeServed, DeliveryFact } from '@longwave/events';
import fc from 'fast-check';
import { recount } from '../src/index.ts';
import { fact, layouts, lists, numbers, player, seen } from './_facts.ts';

const start = Date.parse('2026-10-30T20:00:00Z');
const total = layouts['long']!.at(-1)!.to;

/** Requests of a few listeners over some days, around midnights and a change of secrets. */
const requests = fc.array(
  fc.record({
    listener: fc.constantFrom('a', 'b'),
    episode: fc.constantFrom('ep_1', 'ep_1', 'ep_2'),
    // Half of them begin in one of a few minutes, so that some share it.
    minutes: fc.oneof(
      fc.integer({ min: 0, max: 4 * 24 * 60 }),
      fc.integer({ min: 0, max: 12 }).map((n) => n * 8 * 60),
    ),
    seconds: fc.integer({ min: 0, max: 59 }),
    arrangement: fc.constantFrom('arr_1', 'arr_2'),
    from: fc.integer({ min: 0, max: 20 }).map((n) => n * 100_000),
    length: fc.integer({ min: 1, max: 15 }).map((n) => n * 100_000),
    verdict: fc.constantFrom('ok' as const, 'ok' as const, 'dc_ip' as const),
  }),
  { maxLength: 14 },
);

function toFacts(list: readonly (typeof requests extends fc.Arbitrary<(infer R)[]> ? R : never)[]): ByteRangeServed[] {
  return list.map((one, index) => {
    const startedAt = new Date(start + one.minutes * 60_000 + one.seconds * 1000).toISOString();
    const november = startedAt >= '2026-11';
    const written: [number, number] = [one.from, Math.min(one.from + one.length, total)];
    return fact({
      fact_id: `fct_${index}`,
      request_id: `req_${index}`,
      started_at: startedAt,
      at: startedAt,
      status: 206,
      listener_key: `${one.listener}${november ? '11' : '10'}`,
      ...(november && { previous_listener_key: `${one.listener}10` }),
      episode_id: one.episode,
      arrangement_id: one.arrangement,
      requested: [written],
      written: [written],
      address_verdict: one.verdict,
    });
  });
}

/** Limits so low that some of these few listeners are held. */
const decided = { limits: { podcastEpisodes: 1, episodes: 2, addressDownloads: 3 }, released: new Set<string>() };

const count = (facts: readonly DeliveryFact[]) => numbers(recount([seen(player), ...facts], lists.userAgents, decided));

test('the result does not depend on the order or multiplicity in which facts arrive', () => {
  fc.assert(
    fc.property(
      requests.chain((list) => {
        const facts = toFacts(list);
        return fc.record({
          facts: fc.constant(facts),
          arrived: fc.shuffledSubarray([...facts, ...facts], { minLength: 2 * facts.length }),
        });
      }),
      ({ facts, arrived }) => expect(count(arrived)).toEqual(count(facts)),
    ),
  );
});

test('a response reported in pieces counts like the response reported at once', () => {
  fc.assert(
    fc.property(requests, fc.integer({ min: 1, max: 99 }), (list, percent) => {
      const facts = toFacts(list);
      const pieces = facts.flatMap((one) => {
        const [[from, to]] = one.written as [[number, number]];
        const middle = from + Math.floor(((to - from) * percent) / 100);
        return [
          { ...one, fact_id: `${one.fact_id}.0`, written: [[from, middle] as [number, number]] },
          { ...one, fact_id: `${one.fact_id}.1`, written: [[middle, to] as [number, number]] },
        ];
      });
      expect(count(pieces.reverse())).toEqual(count(facts));
    }),
  );
});

test('a request that another party reports in pieces, down to one byte, counts like the request reported at once', () => {
  fc.assert(
    fc.property(requests, (list) => {
      const facts = toFacts(list);
      const pieces = facts.flatMap((one) => {
        const [[from, to]] = one.written as [[number, number]];
        const ends = [...new Set([from + 1, from + 3, to - 1, to])].filter((end) => end > from && end <= to);
        return ends.map((end, nth) => {
          const piece: [number, number] = [ends[nth - 1] ?? from, end];
          return { ...one, fact_id: `${one.fact_id}.${nth}`, requested: [piece], written: [piece] };
        });
      });
      expect(count(pieces.reverse())).toEqual(count(facts));
    }),
  );
});

test('ranges of one minute count as one request, however small they are', () => {
  const cuts = fc.array(fc.tuple(fc.integer({ min: 0, max: total }), fc.integer({ min: 0, max: 59_999 })), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(requests, cuts, (list, places) => {
      const facts = toFacts(list);
      const minuteOf = (one: ByteRangeServed) => Math.floor(Date.parse(one.started_at) / 60_000) * 60_000;
      const pieces = facts.flatMap((one) => {
        const [[from, to]] = one.written as [[number, number]];
        const ends = [...places.map(([at]) => at).filter((at) => at > from && at < to), to].sort((a, b) => a - b);
        return ends.map((end, nth) => ({
          ...one,
          fact_id: `${one.fact_id}.${nth}`,
          request_id: `${one.request_id}.${nth}`,
          // The first begins when the whole did, the others at any time of the same minute after it.
          started_at:
            nth === 0
              ? one.started_at
              : new Date(Math.max(Date.parse(one.started_at), minuteOf(one) + places[nth - 1]![1])).toISOString(),
          written: [[ends[nth - 1] ?? from, end] as [number, number]],
        }));
      });
      expect(count(pieces.reverse())).toEqual(count(facts));
    }),
  );
});

test('a listener has at most one download per episode and window', () => {
  fc.assert(
    fc.property(requests, (list) => {
      const { sessions } = recount([seen(player), ...toFacts(list)], lists.userAgents);
      const keys = sessions.map(
        ({ episodeId, session }) => `${session.first.listenerKey} ${episodeId} ${session.windowOn}`,
      );
      expect(new Set(keys).size).toBe(keys.length);
    }),
  );
});

test('an ad is never delivered without a valid download of at least a minute', () => {
  fc.assert(
    fc.property(requests, (list) => {
      for (const { session } of recount([seen(player), ...toFacts(list)], lists.userAgents).sessions)
        if (session.download !== undefined) expect(session.download.creditedMs).toBeGreaterThanOrEqual(60_000);
    }),
  );
});
