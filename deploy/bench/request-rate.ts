import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Fleet } from '@longwave/fleet';
import { cookieName, sessionCookie } from '@longwave/principal';
import { createAccount, createRestClient, issueCredential, type Operator } from '@longwave/test-kit/clients';
import { ask } from './ask.ts';
import { startBaseline } from './baseline-server.ts';
import { compare, ratePerSecond, type Row } from './measure.ts';

const perRound = 1500;
const rate = (url: string, status: number, headers?: Readonly<Record<string, string>>) => () =>
  ratePerSecond(perRound, 16, () => ask(url, status, { headers }));

/**
 * Requests per second of the API's list of podcasts and of an unchanged feed, each against a bare express route that answers the
 * same bytes; and of counted requests against uncounted ones, which is what the rate limiter costs.
 */
export async function requestRate(
  fleet: Fleet,
  operator: Operator,
  published: { readonly feedUrl: string },
  folder: string,
): Promise<Row[]> {
  const account = await createAccount(operator, 'unlimited');
  const rest = createRestClient(fleet.urls.base, account.apiKey);
  for (let i = 0; i < 10; i++) await rest.post('/podcasts', { title: `Show ${i}`, language: 'en' });
  const session = (await issueCredential(operator, account.accountId, { kind: 'browser_session', name: 'bench' })).text;

  const list = `${fleet.urls.base}/api/v1/podcasts`;
  const answer = path.join(folder, 'podcasts.json');
  writeFileSync(answer, await ask(list, 200, { headers: { token: account.apiKey } }));
  const etag = await fetch(published.feedUrl, { headers: { 'accept-encoding': 'identity' } }).then((response) =>
    response.headers.get('etag'),
  );
  if (!etag) throw new Error('the feed has no tag');

  using bare = await startBaseline('answer-server.ts', answer);
  const baselineName = 'a bare express route with the same bytes';
  const counted = rate(list, 200, { token: account.apiKey });
  return [
    await compare({ name: 'GET /podcasts, 10 podcasts', unit: '/s', baselineName }, 5, counted, rate(bare.url, 200)),
    await compare(
      { name: 'feed 304', unit: '/s', baselineName: 'a bare express route that answers 304' },
      5,
      rate(published.feedUrl, 304, { 'if-none-match': etag, 'accept-encoding': 'identity' }),
      rate(bare.url, 304, { 'if-none-match': '"baseline"' }),
    ),
    await compare(
      { name: 'rate limiter', unit: '/s', baselineName: 'the same request of an uncounted browser session' },
      5,
      counted,
      rate(list, 200, {
        cookie: `${cookieName(sessionCookie, fleet.urls.base)}=${session}`,
        'sec-fetch-site': 'same-origin',
      }),
    ),
  ];
}
