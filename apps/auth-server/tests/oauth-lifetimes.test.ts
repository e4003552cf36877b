import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connector, startOauth, type OauthUnderTest } from './_oauth.ts';

let oauth: OauthUnderTest;
beforeAll(async () => {
  oauth = await startOauth();
}, 120_000);
afterAll(() => oauth[Symbol.asyncDispose]());

/** A person's tokens for a client, which can grow old. */
async function family() {
  const client = await oauth.register(connector());
  const { body } = await (
    await oauth.grant(await oauth.signedIn('Ada'), client, { scope: 'mcp:read offline_access' })
  ).redeem();
  let token = body['refresh_token']!;
  const { grantId } = (await oauth.verify(body['access_token']!)) as { grantId: string };
  return {
    /** Moves every time of the family into the past, in the database. */
    async age(days: number) {
      await oauth.pool.query(
        `update oauth_artifact set expires_at = expires_at - $2 * interval '1 day',
           payload = (payload::jsonb || jsonb_build_object(
             'iat', (payload::jsonb->>'iat')::bigint - $2 * 86400, 'exp', (payload::jsonb->>'exp')::bigint - $2 * 86400))::text
         where grant_id = $1`,
        [grantId, days],
      );
      await oauth.pool.query(
        `update connector_grant set created_at = created_at - $2 * interval '1 day',
           expires_at = expires_at - $2 * interval '1 day' where id = $1`,
        [grantId, days],
      );
    },
    /** Uses the newest refresh token; answers the error, if there is one. */
    async refresh(): Promise<string | undefined> {
      const answer = await oauth.refresh(client, token);
      token = answer.body['refresh_token'] ?? token;
      return answer.body['error'];
    },
  };
}

test('a refresh token ends after 30 days without use', async () => {
  const [used, idle] = [await family(), await family()];
  for (const { age } of [used, idle]) await age(29);
  expect(await used.refresh()).toBeUndefined();
  for (const { age } of [used, idle]) await age(2);
  expect([await used.refresh(), await idle.refresh()]).toEqual([undefined, 'invalid_grant']);
});

test('a family ends 180 days after consent, however often it was refreshed', async () => {
  const { age, refresh } = await family();
  for (let days = 0; days < 174; days += 29) {
    await age(29);
    expect(await refresh()).toBeUndefined();
  }
  await age(5);
  expect(await refresh()).toBeUndefined();
  await age(2);
  expect(await refresh()).toBe('invalid_grant');
});
