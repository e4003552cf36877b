import { expect, test } from '@jest/globals';
import {
  addressVerdicts,
  anyTargeting,
  decisionMadeSchema,
  defaultSeparation,
  deliveryFactSchema,
  factMessageSchema,
  domainEventSchema,
  resourceViewSchema,
  servingPlanSchema,
  topics,
} from './index.ts';

const view = {
  resource_type: 'episodes',
  id: 'ep_1',
  workspace_id: 'ws_1',
  version: 2,
  lifecycle_state: 'published',
  attributes: { title: 'One', season: 1 },
  links: { podcast: 'pod_1' },
  digest: '0'.repeat(64),
  created_at: '2026-11-21T12:00:00.000Z',
  updated_at: '2026-11-21T12:00:01.000Z',
  updated_by: { operation_id: 'op_1' },
};
const event = {
  id: 'evt_1',
  type: 'episode.published',
  workspace_id: 'ws_1',
  subject: { type: 'episodes', id: 'ep_1', version: 2 },
  operation_id: 'op_1',
  occurred_at: '2026-11-21T12:00:01.000Z',
  after: view,
};
const ad = {
  serving_id: 'srv_1',
  campaign_id: 'cmp_1',
  line_item_id: 'li_1',
  creative_id: 'crv_1',
  break_key: 'pre',
  slot: 0,
  billable: true,
};
const bytes = {
  kind: 'byte_range_served',
  fact_id: 'req_1.0',
  request_id: 'req_1',
  started_at: '2026-11-21T12:00:00.000Z',
  at: '2026-11-21T12:00:02.000Z',
  workspace_id: 'ws_1',
  podcast_id: 'pod_1',
  episode_id: 'ep_1',
  arrangement_id: 'arr_1',
  method: 'GET',
  status: 206,
  requested: [[0, 1000]],
  written: [
    [0, 400],
    [600, 1000],
  ],
  total_bytes: 1000,
  parts: [
    { kind: 'ad', from: 0, to: 400, duration_ms: 25, ad },
    { kind: 'content', from: 400, to: 1000, duration_ms: 38 },
  ],
  published_at: '2026-11-20T00:00:00.000Z',
  listener_key: 'a'.repeat(64),
  address_key: 'b'.repeat(64),
  address_verdict: 'ok',
  user_agent_digest: null,
  prefetch: false,
  preload: false,
  internal: false,
  country: 'SE',
  region: 'unknown',
  late: false,
  lists_version: '2026-11-01',
};
const agent = {
  kind: 'user_agent_seen',
  fact_id: 'fct_1',
  at: '2026-11-21T12:00:00.000Z',
  user_agent_digest: 'c'.repeat(64),
  user_agent: 'AppleCoreMedia/1.0',
};
const { arrangement_id: _, parts: __, kind: ___, ...served } = bytes;
const mediaRange = {
  ...served,
  kind: 'media_range_served',
  track: 'd'.repeat(64),
  presentation: 'e'.repeat(64),
  play_id: 'play_1',
};
const track = {
  kind: 'track_described',
  fact_id: 'fct_2',
  at: '2026-11-21T12:00:00.000Z',
  track: 'd'.repeat(64),
  media: 'audio',
  timescale: 48_000,
  ...{ part: 0, parts: 1 },
  cells: [[605, 395, 0, 144_384]],
};
const listed = {
  fact_id: 'fct_3',
  at: '2026-11-21T12:00:00.000Z',
  workspace_id: 'ws_1',
  podcast_id: 'pod_1',
  episode_id: 'ep_1',
  presentation: 'e'.repeat(64),
  play_id: 'play_1',
  listener_key: 'a'.repeat(64),
  user_agent_digest: null,
};
const plan = {
  format: 2,
  workspace_id: 'ws_1',
  effective_from: '2026-11-21T12:00:00.000Z',
  inputs: [{ type: 'line_items', id: 'li_1', version: 3 }],
  separation: defaultSeparation,
  floors: [{ podcast_id: null, min_cpm_micros: 0 }],
  line_items: [
    {
      line_item_id: 'li_1',
      campaign_id: 'cmp_1',
      advertiser_id: 'adv_1',
      type: 'guaranteed',
      priority: 5,
      window: { start: '2026-11-21T00:00:00.000Z', end: '2026-12-21T00:00:00.000Z' },
      goal: { unit: 'impressions', quantity: 1000 },
      break_positions: ['pre'],
      weight: 1,
      billable: true,
      cpm_micros: 18_000_000,
      targeting: { ...anyTargeting, countries: { include: ['SE'], exclude: [] } },
      frequency_caps: [{ max: 3, per: 'listener_bucket', window_seconds: 86_400 }],
      separation_groups: ['tea'],
      ad_product_categories: [],
      creative_rotation: 'weighted',
      creatives: [
        {
          creative_id: 'crv_1',
          weight: 1,
          sequence_no: 1,
          window: null,
          place: 'any',
          production: 'produced',
          click_url: null,
          media: [
            {
              stream_format: 'mp3/128000/48000/2',
              loudness_lufs: -16,
              segment_digest: 'd'.repeat(64),
              size_bytes: 384,
              duration_ms: 24,
            },
          ],
        },
      ],
    },
  ],
};

const decision = {
  decision_id: 'dec_1',
  workspace_id: 'ws_1',
  podcast_id: 'pod_1',
  episode_id: 'ep_1',
  decided_at: '2026-11-21T12:00:00.000Z',
  country: 'SE',
  slots: [ad],
};
const heard = {
  kind: 'delivery_event',
  fact_id: 'srv_1:complete:0',
  event: 'complete',
  sequence: 0,
  at: '2026-11-21T12:01:00.000Z',
  late: false,
  workspace_id: 'ws_1',
  podcast_id: 'pod_1',
  episode_id: 'ep_1',
  serving_id: 'srv_1',
  campaign_id: 'cmp_1',
  line_item_id: 'li_1',
  creative_id: 'crv_1',
  break_key: 'pre',
  slot: 0,
  listener_key: 'a'.repeat(64),
  address_verdict: 'ok',
  user_agent_digest: null,
  country: 'SE',
  region: 'unknown',
  lists_version: '2026-11-01',
};

const mark = {
  kind: 'facts_published',
  producer: 'one',
  until: '2026-11-20T08:00:00.000Z',
  ended: false,
  part: 7,
  parts: 8,
};

const samples = [
  ['resource view', resourceViewSchema, view],
  ['domain event', domainEventSchema, event],
  ['fact of bytes served', deliveryFactSchema, bytes],
  ['fact of a user agent seen', deliveryFactSchema, agent],
  ['delivery event', deliveryFactSchema, heard],
  ['fact of media bytes served', deliveryFactSchema, mediaRange],
  ['fact of a track described', deliveryFactSchema, track],
  ['fact of a playlist served', deliveryFactSchema, { ...listed, kind: 'playlist_served', which: 'a192' }],
  [
    'fact of an asset list served',
    deliveryFactSchema,
    { ...listed, kind: 'asset_list_served', break_key: 'pre', assets: [] },
  ],
  ['mark of published facts', factMessageSchema, mark],
  ['decision', decisionMadeSchema, decision],
  ['serving plan', servingPlanSchema, plan],
] as const;

test.each(samples)('a %s is accepted and nothing of it is lost', (_, schema, sample) => {
  expect(schema.parse(JSON.parse(JSON.stringify(sample)))).toEqual(sample);
});

test.each(samples)('a %s that lacks any one of its fields is refused', (_, schema, sample) => {
  const accepted = Object.keys(sample).filter((field) => {
    const lacking = Object.fromEntries(Object.entries(sample).filter(([key]) => key !== field));
    return schema.safeParse(lacking).success;
  });
  expect(accepted).toEqual([]);
});

test.each([
  ['a version that never was', domainEventSchema, { ...event, subject: { ...event.subject, version: 0 } }],
  ['an event without the whole revision', domainEventSchema, { ...event, after: { id: 'ep_1' } }],
  ['a fact of an unknown kind', deliveryFactSchema, { ...agent, kind: 'address_seen' }],
  ['a mark without a time', factMessageSchema, { ...mark, until: 'now' }],
  ['a fact about a preview', deliveryFactSchema, { ...bytes, arrangement_id: `prv_${'0'.repeat(26)}` }],
  ['a negative byte', deliveryFactSchema, { ...bytes, written: [[-1, 5]] }],
  ['an interval without an end', deliveryFactSchema, { ...bytes, requested: [[0]] }],
  ['an unknown address verdict', deliveryFactSchema, { ...bytes, address_verdict: 'home' }],
  ['an ad part that does not say which ad', deliveryFactSchema, { ...bytes, parts: [{ ...bytes.parts[0], ad: {} }] }],
  ['an ad of a track that does not say which ad', deliveryFactSchema, { ...mediaRange, ad: {} }],
  ['a track without cells', deliveryFactSchema, { ...track, cells: [] }],
  ['a cell without a duration', deliveryFactSchema, { ...track, cells: [[605, 395, 0]] }],
  ['a track of subtitles', deliveryFactSchema, { ...track, media: 'text' }],
  ['a plan of another format', servingPlanSchema, { ...plan, format: 1 }],
  ['a plan that carries more than decisions read', servingPlanSchema, { ...plan, budget: 1 }],
  [
    'a line item that carries its rate',
    servingPlanSchema,
    { ...plan, line_items: [{ ...plan.line_items[0], rate: { model: 'cpm' } }] },
  ],
] as const)('%s is refused', (_, schema, value) => {
  expect(schema.safeParse(value).success).toBe(false);
});

test('a plan of a release before that repeats positions is read with each once', () => {
  const [line] = plan.line_items;
  const positions = ['pre', ...Array.from({ length: 10_000 }, () => 'mid'), 'pre'];
  const read = servingPlanSchema.parse({ ...plan, line_items: [{ ...line, break_positions: positions }] });
  expect(read.line_items[0]!.break_positions).toEqual(['pre', 'mid']);
});

test('a fact keeps no address and no user agent in clear, even when a producer adds one', () => {
  const parsed = deliveryFactSchema.parse({ ...bytes, address: '192.0.2.1', user_agent: 'Firefox' });
  expect(JSON.stringify(parsed)).not.toMatch(/192\.0\.2\.1|Firefox/);
});

test('a fact of media of an ad names the serving, and where needed the address on the day of the opening', () => {
  const fact = { ...mediaRange, ad, play_address_key: 'f'.repeat(64) };
  expect(deliveryFactSchema.parse(fact)).toEqual(fact);
});

test('the verdicts and topics are words of the wire and stay', () => {
  expect(addressVerdicts).toEqual(['ok', 'dc_ip', 'vpn_ip', 'tor_ip', 'deny_ip']);
  expect(topics).toEqual({
    product: 'product.events',
    identity: 'identity.events',
    exchange: 'exchange.events',
    deliveryFacts: 'delivery.facts',
    decisions: 'serving.decisions',
    opportunities: 'serving.opportunities',
  });
});
