import { keyDay, recount, userAgentDigest } from '@longwave/audience';
import { deliveryEventFactId, type DecisionMade, type DeliveryEvent, type DeliveryFact } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { lists, player, randomFacts, seen } from '@longwave/test-kit/delivery-facts';

type Recounted = Parameters<typeof recount>[2] & { readonly rejected: ReadonlySet<string> };

export const decisionOf = (
  servingId: string,
  changes: Partial<DecisionMade> = {},
  lineItemId = 'li_1',
): DecisionMade => ({
  decision_id: `dec ${servingId}`,
  workspace_id: 'ws_1',
  podcast_id: 'pod_1',
  episode_id: 'ep_1',
  decided_at: '2025-11-02T09:59:59.000Z',
  country: 'DE',
  surface_class: 'download',
  slots: [
    {
      ...{ serving_id: servingId, campaign_id: 'cmp_1', line_item_id: lineItemId, creative_id: 'crv_1' },
      ...{ break_key: 'pre', slot: 0, billable: true },
    },
  ],
  ...changes,
});

/** A player's report of an ad. */
export const report = (
  servingId: string,
  event: DeliveryEvent['event'],
  changes: Partial<DeliveryEvent> = {},
): DeliveryEvent => ({
  kind: 'delivery_event',
  fact_id: deliveryEventFactId(servingId, event, 0),
  ...{ serving_id: servingId, event, sequence: 0, at: '2025-11-02T10:00:05.000Z', late: false },
  ...{ workspace_id: 'ws_1', podcast_id: 'pod_1', episode_id: 'ep_1', campaign_id: 'cmp_1', line_item_id: 'li_1' },
  ...{ creative_id: 'crv_1', break_key: 'pre', slot: 0, listener_key: 'listener', address_verdict: 'ok' },
  ...{
    user_agent_digest: userAgentDigest(player),
    country: 'DE',
    region: 'unknown',
    lists_version: lists.listsVersion,
  },
  ...changes,
});

/** Random listening in which each request is for one of six servings, two of three write its ad, their decisions, and reports of some. */
export function randomServings(seed: number) {
  const hash = (name: string) => [...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), seed) % 997;
  const servingOf = (name: string) => `srv_${hash(name) % 6}`;
  const served = randomFacts(seed).map((one): DeliveryFact => {
    if (one.kind !== 'byte_range_served') return one;
    const serving_id = servingOf(`${one.request_id} ${one.arrangement_id}`);
    const parts = one.parts.map((part) => (part.ad ? { ...part, ad: { ...part.ad, serving_id } } : part));
    const writesAd = one.fact_id.endsWith('.0') && hash(one.fact_id) % 3 > 0;
    return { ...one, parts, ...(writesAd && { written: [[0, Math.max(161_000, one.written[0]![1])]] }) };
  });
  const decisions = [0, 1, 2, 3, 4].map((n) =>
    decisionOf(
      `srv_${n}`,
      { decided_at: `2025-11-0${1 + (n % 2)}T10:0${n}:00.000Z`, ...(n % 2 && { surface_class: 'stream' }) },
      n < 3 ? 'li_1' : 'li_2',
    ),
  );
  const reports = [0, 2, 4].flatMap((n) => [
    report(`srv_${n}`, 'start', n === 4 ? { user_agent_digest: userAgentDigest('HarbourListener 4') } : {}),
    ...(n === 2 ? [report('srv_2', 'complete'), report('srv_2', 'pause')] : []),
  ]);
  return { facts: [...served, ...reports, seen('HarbourListener 4')], decisions };
}

/** The stored cohorts as texts: place, then decided, served, delivered, held, client_started, client_completed. */
export async function storedCohorts(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ text: string }>(
    `select line_item_id || ' ' || surface_class || ' ' || to_char(quarter at time zone 'UTC', 'DD HH24:MI') || ': '
       || concat_ws(' ', decided, served, delivered, held, client_started, client_completed) as text
     from serving_cohort where (decided, served, delivered, held, client_started, client_completed) <> (0, 0, 0, 0, 0, 0)
     order by 1`,
  );
  return rows.map(({ text }) => text);
}

/** The same cohorts from decisions and facts alone, by the reference method of counting. Every report counts. */
export function recountedCohorts(
  decisions: readonly DecisionMade[],
  facts: readonly DeliveryFact[],
  { rejected, ...decided }: Recounted,
): string[] {
  const reached = { served: new Set<string>(), delivered: new Set<string>(), held: new Set<string>() };
  for (const { session, held } of recount(facts, lists.userAgents, decided).sessions) {
    for (const ad of session.served) reached.served.add(ad.servingId);
    const isRejected = rejected.has(keyDay('listener', session.first.listenerKey, session.windowOn));
    for (const ad of session.download?.ads ?? [])
      if (held === undefined) reached.delivered.add(ad.servingId);
      else if (!isRejected) reached.held.add(ad.servingId);
  }
  const reports = facts.filter((one): one is DeliveryEvent => one.kind === 'delivery_event');
  const reported = (event: string) =>
    new Set(reports.filter((one) => one.event === event).map((one) => one.serving_id));
  const [started, completed] = [reported('start'), reported('complete')];
  const cohorts = new Map<string, number[]>();
  const once = new Map(decisions.flatMap((one) => one.slots.map((slot) => [slot.serving_id, { one, slot }] as const)));
  for (const { one, slot } of once.values()) {
    const quarter = new Date(Math.floor(Date.parse(one.decided_at) / 900_000) * 900_000).toISOString();
    const name = `${slot.line_item_id} ${one.surface_class ?? 'download'} ${quarter.slice(8, 16).replace('T', ' ')}`;
    const counts = cohorts.get(name) ?? [0, 0, 0, 0, 0, 0];
    cohorts.set(name, counts);
    const id = slot.serving_id;
    const isDelivered = reached.delivered.has(id);
    [
      ...[true, reached.served.has(id), isDelivered, !isDelivered && reached.held.has(id)],
      ...[started.has(id), completed.has(id)],
    ].forEach((counts_, nth) => (counts[nth]! += counts_ ? 1 : 0));
  }
  return [...cohorts].map(([name, counts]) => `${name}: ${counts.join(' ')}`).sort();
}
