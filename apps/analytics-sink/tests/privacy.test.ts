import { expect, test } from '@jest/globals';
import {
  addressKeyBytes,
  dailyAddressKey,
  listenerKey,
  normaliseUserAgent,
  periodSecret,
  userAgentDigest,
} from '@longwave/audience';
import type { DeliveryEvent, DeliveryFact } from '@longwave/events';
import { startTestDatabase } from '@longwave/fleet';
import { createPool } from '@longwave/postgres';
import { fact, lists, seen } from '@longwave/test-kit/delivery-facts';
import { decideAnomaly, listAnomalies } from '../src/velocity/decide-anomaly.ts';
import { createCountingMemory, recordFacts } from '../src/counting/record-facts.ts';

const addresses = ['203.0.113.77', '2001:db8:77:1::beef', '::ffff:198.51.100.7'];
const agents = ['Overcast/3.0 (+http://overcast.fm/; iOS podcast app)', 'HarbourListener 4 (build 7)', 'AhrefsBot/7.0'];
const secret = Buffer.alloc(32, 7);

/** Texts that no column may hold, except those of the user agents in `user_agent`. */
const forbidden = [
  ...agents,
  ...addresses,
  'HarbourListener',
  'overcast.fm',
  'AhrefsBot',
  /\b\d{1,3}(\.\d{1,3}){3}\b/,
  /\b[0-9a-f]{1,4}(:[0-9a-f]{0,4}){3,7}\b/i,
];

/** Listening and reports from these addresses, keyed as public-delivery keys them; one listener is held and released. */
function factsOf(): DeliveryFact[] {
  return addresses.flatMap((address, a) =>
    agents.flatMap((text, u) => {
      const userAgent = normaliseUserAgent(text);
      const bytes = addressKeyBytes(address);
      const keys = {
        listener_key: listenerKey(periodSecret(secret, '2025-11'), bytes, userAgent),
        address_key: dailyAddressKey(secret, bytes, '2025-11-02'),
        user_agent_digest: userAgentDigest(userAgent),
      };
      const { address_key: _, ...listener } = keys;
      const event: DeliveryEvent = {
        kind: 'delivery_event',
        fact_id: `event ${a} ${u}`,
        serving_id: 'srv_1',
        event: 'start',
        sequence: 0,
        at: '2025-11-02T10:00:05.000Z',
        late: false,
        ...{
          workspace_id: 'ws_1',
          podcast_id: 'pod_1',
          episode_id: 'ep_1',
          campaign_id: 'cmp_1',
          line_item_id: 'li_1',
        },
        ...{ creative_id: 'crv_1', break_key: 'pre', slot: 0, address_verdict: 'ok', country: 'DE', region: 'unknown' },
        lists_version: 'lists',
        ...listener,
      };
      const episodes = a === 0 && u === 0 ? 51 : 2;
      const served = Array.from({ length: episodes }, (_one, nth) =>
        fact({ ...keys, fact_id: `fct ${a} ${u} ${nth}`, episode_id: `ep_${nth}`, lists_version: 'lists' }),
      );
      return [...served, event, seen(userAgent)];
    }),
  );
}

test('after listening, reports, holds and decisions no table holds an address, nor a user agent outside its dictionary', async () => {
  const database = await startTestDatabase({ schema: 'audience', migrations: 'apps/analytics-sink/prisma' });
  const pool = createPool(database.url, 'audience', { name: 'test', copies: true });
  try {
    const facts = factsOf();
    await recordFacts(pool, facts, lists, createCountingMemory());
    const unknown = fact({ fact_id: 'waits', user_agent_digest: userAgentDigest('NeverTold/1 (secret)') });
    await recordFacts(pool, [unknown], lists, createCountingMemory());
    const [anomaly] = await listAnomalies(pool, true);
    const decision = { ...anomaly!, decision: 'release', decidedBy: 'Ada', reason: 'A library.' } as const;
    await decideAnomaly(pool, decision, lists.listsVersion);

    const { rows: tables } = await pool.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'audience' and tablename not like '\\_%'`,
    );
    const texts = new Map<string, string>();
    for (const { name } of tables) {
      const { rows } = await pool.query<{ text: string }>(`select to_jsonb(t)::text as text from "${name}" t`);
      // Times and versions of methods and lists are known texts that look like neither.
      texts.set(name, rows.map(({ text }) => text.replace(/"\d{4}-\d\d-\d\dT[^"]*"/g, '""')).join('\n'));
    }
    for (const filled of [
      'fact',
      'pending_fact',
      'session',
      'rolling_download',
      'ad_entry',
      'client_event',
      'velocity_day',
    ])
      expect([filled, texts.get(filled)!.length > 0]).toEqual([filled, true]);
    // The search finds what is there: the dictionary has every text.
    for (const text of agents) expect(texts.get('user_agent')).toContain(text);
    texts.delete('user_agent');
    for (const [name, text] of texts)
      for (const one of forbidden)
        expect([name, one, typeof one === 'string' ? text.includes(one) : one.exec(text)?.[0]]).toEqual([
          name,
          one,
          typeof one === 'string' ? false : undefined,
        ]);
  } finally {
    await pool.end();
    await database.stop();
  }
});
