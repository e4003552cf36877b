import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { idFromBytes } from '@longwave/ids';
import fc from 'fast-check';
import { decisionTraceSchema, noAdReasons, toDecisionTrace, verdictCodes } from '../src/index.ts';
import { safeLabel } from '../src/safe-label.ts';

interface GoldenCase {
  readonly name: string;
  readonly known: unknown;
  readonly trace: unknown;
}

const golden = JSON.parse(
  readFileSync(new URL('../trace-cases/decision-trace.json', import.meta.url), 'utf8'),
) as readonly GoldenCase[];

describe('golden cases:', () => {
  test.each(golden)('$name', ({ known, trace }) => {
    expect(toDecisionTrace(known)).toEqual(trace);
    // What is shown is a trace itself: showing it again changes nothing.
    expect(toDecisionTrace(trace)).toEqual(trace);
  });
});

const id = (prefix: string) =>
  fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => idFromBytes(prefix, bytes));
const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });

/** Texts that must never be seen, with the part of them that would give them away. */
const secret = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  // Listener keys, tokens of plays, access tokens, API keys.
  hex(32),
  fc.string({ unit: fc.constantFrom(...'ABCDEFabcdef0123456789_-'), minLength: 43, maxLength: 103 }),
  hex(64).map((text) => `lw_key_${text}`),
  fc.constantFrom(
    'AppleCoreMedia/1.0.0.20G75 (iPhone; U; CPU OS 16_6 like Mac OS X; en_us)',
    'Overcast/3.0 (+http://overcast.fm/; iOS podcast app)',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0.0.0 Safari/537.36',
  ),
  fc.webUrl(),
);

const label = fc.oneof(fc.constantFrom('', 'Overcast', 'iOS', 'mobile', 'mp3/128000/48000/2', 'en'), secret);
const code = fc.constantFrom(...verdictCodes);

/** Everything that could be known about a decision, with secrets wherever a text or a field may stand. */
const known = fc
  .record({ hidden: secret, further: secret, key: fc.oneof(fc.constantFrom('pre', 'mid-1'), secret) })
  .chain(({ hidden, further, key }) => {
    const extra = {
      price: { cpm_micros: 123_456_789 },
      budget: '987654321',
      address: hidden,
      token: further,
      [further]: 1,
    };
    const open = <T extends object>(one: T) => ({ ...one, ...extra });
    return fc
      .record({
        decision_id: id('dec'),
        decided_at: fc.constant('2026-11-20T10:00:00.000Z'),
        serving_plan_id: fc.option(id('spl')),
        index_version: fc.option(hex(64)),
        pacing_version: fc.constant(null),
        policy_versions: fc.array(
          fc
            .record({ id: id('pol'), version: fc.integer({ min: 1, max: 9 }), kind: fc.constant('frequency') })
            .map(open),
          { maxLength: 2 },
        ),
        request_class: fc
          .record({
            podcast_id: id('pod'),
            episode_id: id('ep'),
            country: fc.constantFrom('', 'DE'),
            region: fc.constantFrom('', 'US-CA'),
            surface: label,
            device: label,
            operating_system: label,
            app: label,
            language: label,
            explicit: fc.boolean(),
            content_categories: fc.array(label, { maxLength: 3 }),
            stream_format: label,
            listener_bucket: fc.constantFrom('present', 'absent'),
            breaks: fc.constant([
              open({ key, position: 'pre', position_ms: 0, max_slots: 2, max_duration_ms: 60_000 }),
            ]),
          })
          .map(open),
        stages: fc.constant([open({ break_key: key, name: 'eligibility', in: 3, out: 1, dropped_by: { halted: 2 } })]),
        candidates: fc.array(
          fc
            .record({
              break_key: fc.constant(key),
              line_item_id: id('li'),
              verdict: code,
              codes: fc.array(code, { minLength: 1, maxLength: 3 }),
              tier: fc.integer({ min: 0, max: 4 }),
              rank: fc.option(fc.integer({ min: 1, max: 50 })),
            })
            .map(open),
          { maxLength: 3 },
        ),
        picks: fc.array(
          fc
            .record({
              break_key: fc.constant(key),
              slot: fc.nat(15),
              serving_id: id('srv'),
              campaign_id: id('cmp'),
              line_item_id: id('li'),
              creative_id: id('crv'),
              duration_ms: fc.nat(60_000),
              click_url: fc.webUrl(),
              segment_digest: hex(64),
            })
            .map(open),
          { maxLength: 2 },
        ),
        no_ad_reason: fc.option(fc.constantFrom(...noAdReasons)),
        seed: fc.integer(),
        input_digest: hex(64),
        output_digest: hex(64),
        replay: fc.record({ status: fc.constantFrom('identical', 'differs', 'inputs_expired') }).map(open),
      })
      .map(open);
  });

/** Every text of a value, keys too, but for ids and digests. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return /^([a-z]{2,4}_[0-9a-z]{26}|[0-9a-f]{64})$/.test(value) ? [] : [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsOf(inner)]);
}

test('no trace contains an address, a user agent, a listener key, a price, a budget or a token, whatever is known about the decision', () => {
  fc.assert(
    fc.property(known, (given) => {
      const trace = toDecisionTrace(given);
      expect(decisionTraceSchema.parse(trace)).toEqual(trace);
      const texts = textsOf(trace);
      for (const text of texts) {
        expect(text).not.toMatch(
          /\d+\.\d+\.\d+\.\d+|[A-Za-z0-9_-]{32,}|:\/\/|Mozilla|AppleCoreMedia|[A-Za-z]\/\d+\.\d/,
        );
        expect(safeLabel(text) === text || decisionWords.test(text)).toBe(true);
      }
      expect(texts.join('\n')).not.toMatch(
        /price|budget|cpm|address|token|123456789|987654321|click_url|segment_digest/,
      );
    }),
    { numRuns: 200 },
  );
});

/** Names of fields, codes and times, which are longer than labels. */
const decisionWords = /^([a-z_]+|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/;

test('the codes of a verdict, the reasons and the stages are closed lists', () => {
  const [{ known: one }] = golden as readonly [GoldenCase];
  const changed = (changes: object) => () => toDecisionTrace({ ...(one as object), ...changes });
  expect(changed({ no_ad_reason: 'bad_weather' })).toThrow('no_ad_reason');
  expect(changed({ replay: { status: 'perhaps' } })).toThrow('status');
  expect(changed({ decision_id: '10.0.0.1' })).toThrow('decision_id');
  expect(changed({ seed: undefined })).toThrow('seed');
  const candidate = {
    break_key: 'pre',
    line_item_id: golden[0]!.name,
    tier: 0,
    rank: 1,
    verdict: 'won',
    codes: ['won'],
  };
  expect(changed({ candidates: [candidate] })).toThrow('line_item_id');
});
