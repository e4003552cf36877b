import { expect, test } from '@jest/globals';
import { byteRangeServedSchema, factMessageSchema } from '@longwave/events';
import fc from 'fast-check';
import type { FactLine } from '../facts/fact-line.ts';
import { countedFileOf, createWrittenMeter, type CountedMedia, type MeteredResponse } from './written-meter.ts';

const at = new Date('2026-01-01T10:00:05.000Z');
const text = fc.string({ unit: 'binary' });
const interval = fc.tuple(fc.nat(), fc.nat()).map(([from, length]) => ({ from, to: from + length }));
const media: fc.Arbitrary<CountedMedia> = fc.record({
  ...{ workspaceId: text, podcastId: text, episodeId: text, arrangementId: text },
  publishedAt: fc.constant(new Date('2026-01-01T09:00:00.000Z')),
  totalBytes: fc.nat(),
  parts: fc.array(
    fc.record({ kind: fc.constant('content' as const), from: fc.nat(), to: fc.nat(), duration_ms: fc.nat() }),
  ),
});
const response: fc.Arbitrary<MeteredResponse> = fc.record({
  ...{
    requestId: fc.constant('req_1'),
    method: text,
    startedAt: fc.constant(at),
    late: fc.boolean(),
    listsVersion: text,
  },
  listener: fc.record({
    ...{ key: text, previousKey: fc.option(text, { nil: undefined }), addressKey: text, country: text, region: text },
    ...{ addressKeys: fc.tuple(text, text), addressVerdict: fc.constant('ok' as const), addressSafe: fc.boolean() },
    ...{ userAgent: text, userAgentDigest: fc.option(text), webPlayer: fc.option(text, { nil: undefined }) },
    ...{ prefetch: fc.boolean(), preload: fc.boolean(), internal: fc.boolean(), isDryRun: fc.boolean() },
  }),
});

test('every fact of a response is a complete fact of the schema and of nothing else, and names the bytes that it adds', () => {
  fc.assert(
    fc.property(media, response, interval, (file, served, last) => {
      const facts: (readonly [FactLine, number])[] = [];
      const meter = createWrittenMeter(
        countedFileOf(file),
        served,
        206,
        [last],
        (...fact) => facts.push(fact),
        () => at,
      );
      meter.wrote(3, 5);
      meter.wrote(5, 9);
      meter.report();
      meter.end(last);
      const read = facts.map(([{ json }]) => byteRangeServedSchema.strict().parse(JSON.parse(json)));
      expect(read.map(({ written }) => written)).toEqual([[[3, 9]], [[last.from, last.to]]]);
      expect(facts.map(([, bytes]) => bytes)).toEqual([6, last.to - last.from]);
      for (const [index, fact] of read.entries()) {
        expect(factMessageSchema.parse(fact)).toEqual(fact);
        const { id, key } = facts[index]![0];
        expect([fact.fact_id, `${fact.listener_key}:${fact.episode_id}`]).toEqual([id, key]);
        expect(fact).toMatchObject({
          ...{ fact_id: `req_1:${index}`, request_id: 'req_1', status: 206, requested: [[last.from, last.to]] },
          ...{ parts: file.parts, total_bytes: file.totalBytes, arrangement_id: file.arrangementId, late: served.late },
          ...{ started_at: at.toISOString(), user_agent_digest: served.listener.userAgentDigest },
        });
        expect(fact.previous_listener_key).toBe(served.listener.previousKey);
        expect(fact.web_player).toBe(served.listener.webPlayer);
        expect(fact.address_safe).toBe(served.listener.addressSafe || undefined);
      }
    }),
  );
});
