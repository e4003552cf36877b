import { beforeEach, describe, expect, test } from '@jest/globals';
import { maxKeysOfPlay, userAgentDigest } from '@longwave/audience';
import type { DeliveryFact } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import {
  batches,
  lists,
  randomFacts,
  seen,
  shuffledTwice,
  totalBytes,
  withServing,
} from '@longwave/test-kit/delivery-facts';
import { described, mediaFact, mediaPlayer } from '@longwave/test-kit/media-facts';
import fc from 'fast-check';
import { countAds } from '../src/queries/ad-queries.ts';
import { reconcileAds } from '../src/ads/reconcile-ads.ts';
import { createCountingMemory, recordFacts, type CountingMemory } from '../src/counting/record-facts.ts';
import { useTables } from './_tables.ts';

let pool: Pool;
let admin: Pool;

useTables((tables) => ({ pool, admin } = tables));
let memory: CountingMemory;
beforeEach(() => {
  memory = createCountingMemory();
});

const record = (facts: readonly DeliveryFact[]) => recordFacts(pool, facts, lists, memory);
const range = { from: new Date('2025-10-30T00:00Z'), to: new Date('2025-11-06T00:00Z') };

describe('nothing is delivered without its download', () => {
  const pieces: readonly (readonly [number, number])[] = [
    [0, 1000],
    [1000, 100_000],
    [100_000, 161_000],
    [161_000, 600_000],
    [600_000, 961_000],
    [961_000, totalBytes],
  ];
  test('in whatever order the bytes come: after every fact, delivered ads have a counted download and all their bytes', async () => {
    const orders = fc.sample(fc.shuffledSubarray([...pieces.keys()], { minLength: 3 }), { seed: 7, numRuns: 12 });
    for (const [nth, order] of orders.entries()) {
      await record([seen()]);
      for (const piece of order) {
        const started_at = `2025-11-02T1${piece}:00:00.000Z`;
        const name = `fct ${nth} ${piece}`;
        const written: [number, number][] = [[...pieces[piece]!]];
        await record([withServing(`srv ${nth}`, { fact_id: name, listener_key: `l ${nth}`, started_at, written })]);
        const { delivered, covered, findings } = await reconcileAds(pool, 'ws_1', range);
        expect(covered).toBe(delivered);
        expect(findings.filter(({ check }) => check !== 'billed_without_decision')).toEqual([]);
      }
    }
    const { delivered } = await countAds(pool, { workspaceId: 'ws_1', kind: 'lineItemId', id: 'li_1' }, range);
    expect(delivered).toBeGreaterThan(1n);
  });

  test.each([51, 52])('in random listening with restatements and holds (seed %i)', async (seed) => {
    const limits = { podcastEpisodes: 1, episodes: 2, addressDownloads: 3 };
    for (const batch of batches(shuffledTwice(randomFacts(seed), seed), 20)) {
      await recordFacts(pool, batch, lists, memory, limits);
      const { delivered, covered, findings } = await reconcileAds(pool, 'ws_1', range);
      expect(covered).toBe(delivered);
      expect(findings.filter(({ check }) => check !== 'billed_without_decision')).toEqual([]);
    }
  });
});

test('reconciling finds contradictions of bytes, downloads, bills and totals', async () => {
  await record([seen(), withServing('srv_1', { fact_id: 'fct_1' })]);
  await admin.query(`update fact set written = '{[161000,2081000)}'`);
  expect(await reconcileAds(pool, 'ws_1', range)).toEqual({
    ...{ decided: 0, delivered: 1, covered: 0, unchecked: 0, billable: 1 },
    findings: [
      { check: 'billed_without_decision', count: 1, examples: ['srv_1'] },
      { check: 'delivered_without_bytes', count: 1, examples: ['srv_1'] },
    ],
  });
  await admin.query(`update session set counted = false; update ad_hour set delivered = 2;
    insert into ad_entry (methodology_version, lists_version, restates, stage, quantity, serving_id, listener_key, window_on, workspace_id,
      podcast_id, episode_id, campaign_id, line_item_id, creative_id, break_key, slot, hour, country, region, app, device, platform,
      operating_system)
    select methodology_version, lists_version, restates, stage, quantity, serving_id, listener_key, window_on, workspace_id,
      podcast_id, episode_id, campaign_id, line_item_id, creative_id, break_key, slot, hour, country, region, app, device, platform,
      operating_system
    from ad_entry`);
  const { findings } = await reconcileAds(pool, 'ws_1', range);
  expect(findings.map(({ check }) => check)).toEqual([
    'billed_not_once',
    'billed_without_decision',
    'confirmed_not_once',
    'delivered_without_bytes',
    'delivered_without_download',
    'hours_differ_from_ledger',
    'ledger_differs_from_deliveries',
    'served_not_once',
  ]);
  expect(await reconcileAds(pool, 'ws_2', range)).toMatchObject({ delivered: 0, findings: [] });
});

describe('bytes of another key of the play', () => {
  const ad = {
    ...{ serving_id: 'srv_1', campaign_id: 'cmp_1', line_item_id: 'li_1', creative_id: 'crv_1', break_key: 'pre' },
    ...{ slot: 0, billable: true },
  };
  const others = (count: number, user_agent?: string) =>
    Array.from({ length: count }, (_, nth) =>
      mediaFact('ad_audio', {
        ...{ fact_id: `other ${nth}`, ad, started_at: '2025-11-02T10:01:00.000Z' },
        ...{ listener_key: `other ${nth}`, play_address_key: `network ${nth}` },
        ...(user_agent !== undefined && { user_agent_digest: userAgentDigest(user_agent) }),
      }),
    );
  test.each([
    ['cover an ad when both have the user agent', others(1), 1],
    ['cover an ad while the token has as many keys as a listener', others(maxKeysOfPlay - 1), 1],
    ['cover none when the token was passed on', others(maxKeysOfPlay), 0],
    ['cover none when neither address nor user agent is the same', others(1, mediaPlayer), 0],
  ])('%s', async (_, facts, expected) => {
    const own = mediaFact('ad_audio', { fact_id: 'own', ad });
    await record([seen(), seen(mediaPlayer), described.audio, described.ad_audio]);
    await record([mediaFact('audio', { fact_id: 'content' }), own, ...facts]);
    expect(await reconcileAds(pool, 'ws_1', range)).toMatchObject({ delivered: 1, covered: 1 });
    await admin.query(`update fact set written = '{}' where fact_id = 'own'`);
    expect(await reconcileAds(pool, 'ws_1', range)).toMatchObject({ delivered: 1, covered: expected });
  });
});
