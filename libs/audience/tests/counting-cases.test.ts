import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { countedStarts, classifyFact, classifyUserAgent, recount, userAgentDigest } from '../src/index.ts';
import { caseFacts, fact, lists, player, type CountingCase } from './_facts.ts';

function cases<T>(name: string): T[] {
  return JSON.parse(readFileSync(new URL(`../cases/${name}.json`, import.meta.url), 'utf8')) as T[];
}

interface JudgementCase {
  readonly name: string;
  readonly user_agent?: string;
  readonly fact?: Parameters<typeof fact>[0];
  readonly expect: string;
}

describe('a record is eligible unless the first matching rule rejects it', () => {
  test.each(cases<JudgementCase>('judgement'))('$name', (one) => {
    const agent = one.user_agent ?? player;
    const record = fact({ ...one.fact, user_agent_digest: userAgentDigest(agent) });
    expect(classifyFact(record, classifyUserAgent(lists.userAgents, agent))).toBe(one.expect);
  });

  test('rules that need no user agent decide at once, the others wait for its text', () => {
    expect(classifyFact(fact({ method: 'HEAD' }), undefined)).toBe('method');
    expect(classifyFact(fact({ address_verdict: 'dc_ip' }), undefined)).toBeUndefined();
  });
});

describe('credit, threshold, windows and ads', () => {
  test.each(cases<CountingCase>('counting'))('$name', (one) => {
    const { sessions } = recount(caseFacts(one), lists.userAgents);
    const downloads = sessions.flatMap(({ session: { first, windowOn, download } }) =>
      download === undefined
        ? []
        : [
            {
              listener: first.listenerKey,
              window: windowOn,
              arrangement: download.arrangementId,
              credited_ms: download.creditedMs,
              content_ms: download.contentMs,
              ads: download.ads.map((ad) => ad.servingId),
              duplicates: download.duplicateArrangements,
            },
          ],
    );
    expect(downloads).toEqual(
      one.downloads.map((expected) => ({ listener: 'listener', arrangement: 'arr_1', duplicates: [], ...expected })),
    );
  });

  test('PTMG 2.3: the worked example gives the published counts under each window', () => {
    const starts = ['2026-11-02T22:00Z', '2026-11-03T03:00Z', '2026-11-03T22:15Z', '2026-11-04T23:15Z'].map(Date.parse);
    const counts = (window: Parameters<typeof countedStarts>[0]) => countedStarts(window, starts).map(Number);
    expect(counts('calendar_utc')).toEqual([1, 1, 0, 1]);
    expect(counts('first_touch_24h')).toEqual([1, 0, 1, 1]);
    expect(counts('last_touch_24h')).toEqual([1, 0, 0, 1]);
  });
});
