import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { verifyUnderLease, type Verifier } from '@longwave/http-kit/verify-under-lease';
import { newId } from '@longwave/ids';
import { createPool, transaction } from '@longwave/postgres';
import { Api, Carrier, type FollowChangesResponse } from '@longwave/rpc/credential';
import { until } from '@longwave/test-kit';
import { exportJWK, generateKeyPair } from 'jose';
import pMap from 'p-map';
import pg from 'pg';
import { verifyCredential } from '../src/credentials/verify-credential.ts';
import { readPlans } from '../src/plans.ts';
import { awaitsHolders } from '../src/verification/verification-table.ts';
import { digestOf, secretText, startAuthServer, type AuthServerUnderTest } from './_support.ts';

/** Two processes over one database. */
let server: AuthServerUnderTest;
let other: AuthServerUnderTest;
let admin: pg.Pool;
beforeAll(async () => {
  server = await startAuthServer();
  other = await startAuthServer({ databaseUrl: server.database.url });
  admin = new pg.Pool({ connectionString: server.database.adminUrl, options: '-c search_path=identity' });
}, 120_000);
afterAll(async () => {
  await admin?.end();
  await other?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

const leaseMs = 400;
const position = async () => (await admin.query('select position from verification_position')).rows;

async function openAccount() {
  const workspaceId = newId('ws');
  const { resource } = await server.send(workspaceId, 'account.create', { name: 'Studio', plan: 'network' });
  return { workspaceId, accountId: resource.id };
}
type Account = Awaited<ReturnType<typeof openAccount>>;

async function issueKey({ workspaceId, accountId }: Account) {
  const text = secretText('lw_key_');
  const changes = { account_id: accountId, name: 'CI', kind: 'api_key', scope: 'read', secret_digest: digestOf(text) };
  const { resource } = await server.send(workspaceId, 'credential.issue', changes);
  return { text, revoke: () => server.send(workspaceId, 'credential.revoke', {}, { subjectId: resource.id }) };
}

/** A gateway's verifier at one of the processes, how often it asks, and ways to stop what comes to it. */
function createHolder(at: AuthServerUnderTest) {
  const { credentials } = at.clients.gateway;
  const seen = { errors: 0, stream: 'flows' as 'flows' | 'frozen' | 'lost' };
  const asked = new Map<string, number>();
  const askedFor = (credential: string) => asked.get(credential) ?? 0;
  const thawed = Promise.withResolvers<void>();
  const verifier: Verifier = verifyUnderLease(
    {
      verify: async (request, options) => {
        asked.set(request.credential, askedFor(request.credential) + 1);
        return credentials.verify(request, options);
      },
      followChanges: async (request, options): Promise<FollowChangesResponse> => {
        if (seen.stream === 'lost') throw new Error('lost');
        const news = await credentials.followChanges(request, options);
        if (seen.stream === 'frozen') await thawed.promise;
        return news;
      },
    },
    () => (seen.errors += 1),
  );
  const passes = async (credential: string) =>
    (await verifier.verify({ credential, api: Api.REST, carrier: Carrier.HEADER }))?.$case === 'principal';
  /** Whether a request with the credential passes without a question. */
  const passesFromMemory = async (credential: string) => {
    const before = askedFor(credential);
    return (await passes(credential)) && askedFor(credential) === before;
  };
  const keeps = (credential: string) => until('a kept principal', () => passesFromMemory(credential));
  return {
    seen,
    askedFor,
    passes,
    passesFromMemory,
    keeps,
    thaw: thawed.resolve,
    [Symbol.asyncDispose]: () => {
      thawed.resolve();
      return verifier[Symbol.asyncDispose]();
    },
  };
}

test('no request that begins after a revocation was answered passes: 1,000 requests under load, at ten gateways that kept the principal', async () => {
  await using stack = new AsyncDisposableStack();
  const holders = Array.from({ length: 10 }, (_, at) => stack.use(createHolder(at % 2 === 0 ? server : other)));
  type Holder = (typeof holders)[number];
  /** Begins a request at every gateway in the same turn of the event loop. */
  const atEach = (request: (holder: Holder) => Promise<boolean>) => Promise.all(holders.map(request));
  /** Questions of four of them, without a pause. */
  const load = { isOver: false, asked: 0 };
  const asking = pMap(holders.slice(0, 4), async ({ passes }) => {
    for (; !load.isOver; load.asked += 1) await passes(secretText('lw_key_'));
  });
  stack.defer(async () => {
    load.isOver = true;
    await asking;
  });
  async function tryRevocation(account: Account): Promise<boolean[]> {
    const key = await issueKey(account);
    await until('a principal that every gateway keeps', async () =>
      (await atEach(({ passesFromMemory }) => passesFromMemory(key.text))).every(Boolean),
    );
    await key.revoke();
    // One request of each: where it asks, those after it prove nothing.
    return atEach(({ passes }) => passes(key.text));
  }
  const accounts = [await openAccount(), await openAccount()];
  const passed = await pMap(accounts, async (account) => {
    const tries: boolean[] = [];
    while (tries.length < 500) tries.push(...(await tryRevocation(account)));
    return tries;
  });
  expect(passed.flat()).toEqual(Array.from({ length: 1_000 }, () => false));
  expect(load.asked).toBeGreaterThan(1_000);
}, 120_000);

test('a gateway that is frozen delays a revocation by its lease, and lets nothing pass when it wakes', async () => {
  await using holder = createHolder(server);
  const key = await issueKey(await openAccount());
  await holder.keeps(key.text);
  holder.seen.stream = 'frozen';
  const beganAt = performance.now();
  await key.revoke();
  const delayedMs = performance.now() - beganAt;
  expect(await holder.passes(key.text)).toBe(false);
  expect(delayedMs).toBeGreaterThan(leaseMs / 2);
  expect(delayedMs).toBeLessThan(leaseMs + 1_500);
  // Expelled, it delays the next one too, and then is forgotten.
  for (let times = 0; times < 2; times++) await (await issueKey(await openAccount())).revoke();
  const { rows } = await admin.query('select from verification_holder');
  expect(rows).toEqual([]);
  holder.thaw();
  holder.seen.stream = 'flows';
  const second = await issueKey(await openAccount());
  await holder.keeps(second.text);
  await second.revoke();
  expect(await holder.passes(second.text)).toBe(false);
});

test('without its stream a gateway asks for each request', async () => {
  await using holder = createHolder(server);
  const key = await issueKey(await openAccount());
  await holder.keeps(key.text);
  holder.seen.stream = 'lost';
  await until('a failure', async () => holder.seen.errors > 0);
  await wait(leaseMs);
  const asked = holder.askedFor(key.text);
  for (let times = 0; times < 5; times++) expect(await holder.passes(key.text)).toBe(true);
  expect(holder.askedFor(key.text)).toBe(asked + 5);
});

test('a change from a session that awaits nobody is committed only when no gateway passes it any more', async () => {
  await using here = createHolder(server);
  await using there = createHolder(other);
  const key = await issueKey(await openAccount());
  for (const holder of [here, there]) {
    await holder.keeps(key.text);
    // As an auth-server of an older release, or a person at the database.
    await admin.query(
      `update resource set lifecycle_state = 'revoked' where resource_type = 'credentials' and attributes->>'secret_digest' = $1`,
      [digestOf(key.text)],
    );
    for (const each of [here, there]) expect(await each.passes(key.text)).toBe(false);
    await admin.query(
      `update resource set lifecycle_state = 'active' where resource_type = 'credentials' and attributes->>'secret_digest' = $1`,
      [digestOf(key.text)],
    );
  }
});

test('a change that commits late is not skipped: those after it wait for it', async () => {
  await using pool = Object.assign(
    createPool(server.database.url, 'identity', { name: 'test', settings: awaitsHolders }),
    {
      async [Symbol.asyncDispose]() {
        await pool.end();
      },
    },
  );
  await using holder = createHolder(server);
  const [early, late] = [await issueKey(await openAccount()), await issueKey(await openAccount())];
  for (const { text } of [early, late]) await holder.keeps(text);
  let later: Promise<unknown> | undefined;
  await transaction(pool, async (tx) => {
    await tx.query('set constraints all immediate');
    await tx.query(
      `update resource set lifecycle_state = 'revoked' where resource_type = 'credentials' and attributes->>'secret_digest' = $1`,
      [digestOf(early.text)],
    );
    let isOver = false;
    later = late.revoke().then(() => (isOver = true));
    await wait(200);
    expect(isOver).toBe(false);
  });
  await later;
  for (const { text } of [early, late]) expect(await holder.passes(text)).toBe(false);
});

test('a use that is recorded changes nothing, and a new key touches its own account alone', async () => {
  const [own, foreign] = [await openAccount(), await openAccount()];
  await using holder = createHolder(server);
  const key = await issueKey(own);
  await holder.keeps(key.text);
  const asked = holder.askedFor(key.text);
  await issueKey(foreign);
  expect(await holder.passes(key.text)).toBe(true);
  expect(holder.askedFor(key.text)).toBe(asked);
  await issueKey(own);
  expect(await holder.passes(key.text)).toBe(true);
  expect(holder.askedFor(key.text)).toBe(asked + 1);
  const before = await position();
  await admin.query('update session_use set last_used_at = now()');
  await admin.query('update connector_grant set last_used_at = now()');
  await admin.query('update second_factor set last_step = last_step + 1');
  expect(await position()).toEqual(before);
});

test('the end of a token is noted, and not the removal of one that had expired', async () => {
  const removed = async (id: string) => {
    const before = await position();
    await admin.query('delete from oauth_artifact where id_hash = $1', [id]);
    const after = await position();
    return !isDeepStrictEqual(after, before);
  };
  await admin.query(
    `insert into oauth_artifact (model, id_hash, payload, expires_at)
     values ('AccessToken', 'valid', '{}', now() + interval '1 minute'), ('AccessToken', 'expired', '{}', now() - interval '1 minute')`,
  );
  expect([await removed('valid'), await removed('expired')]).toEqual([true, false]);
});

test('another role of a collaborator is noted, and that a collaborator was removed', async () => {
  const { accountId } = await openAccount();
  const podcastId = newId('pod');
  await admin.query(`insert into collaborated_podcast (id, workspace_id, version) values ($1, 'ws_1', 1)`, [podcastId]);
  await admin.query(
    `insert into collaborator_invitation (id, podcast_id, email, since, account_id) values ($1, $1, 'ben@example.com', now(), $2)`,
    [podcastId, accountId],
  );
  for (const change of [
    `insert into collaboration (podcast_id, email, role, since) values ($1, 'ben@example.com', 'editor', now())`,
    `update collaboration set role = 'analyst' where podcast_id = $1`,
    `delete from collaboration where podcast_id = $1`,
  ]) {
    const before = await position();
    await admin.query(change, [podcastId]);
    expect(await position()).not.toEqual(before);
  }
});

test('verification reads only tables whose changes are noted', async () => {
  const { rows } = await admin.query<{ table: string }>(
    `select distinct tgrelid::regclass::text as table from pg_trigger where tgname like 'verification_reads_%'`,
  );
  // Revisions are written once, with the resource.
  const tables = [...rows.map(({ table }) => table), 'revision'];
  const role = `reader_${Date.now()}`;
  await admin.query(`create role ${role} login password 'test'`);
  await admin.query(`grant usage on schema identity to ${role}`);
  const { rows: databases } = await admin.query<{ name: string }>('select current_database() as name');
  await admin.query(`grant connect on database ${databases[0]!.name} to ${role}`);
  for (const table of tables) await admin.query(`grant select on ${table} to ${role}`);
  const url = Object.assign(new URL(server.database.adminUrl), { username: role, password: 'test' }).href;
  const pool = createPool(url, 'identity', { name: 'test' });
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  try {
    const verify = verifyCredential({
      ...{
        pool,
        plans: readPlans(fileURLToPath(new URL('../data/plans.json', import.meta.url))),
        resources: [],
        position: () => 0n,
      },
      principalKey: await exportJWK(privateKey),
      clock: () => server.clock.now,
      logger: { warn: () => undefined } as never,
    });
    const account = await openAccount();
    const key = await issueKey(account);
    const outcomeOf = async (credential: string, api: Api) =>
      (await verify({ credential, api, carrier: Carrier.HEADER })).outcome?.$case;
    expect(await outcomeOf(key.text, Api.REST)).toBe('principal');
    expect(await outcomeOf(secretText('lw_key_').slice(-43), Api.MCP)).toBe('refusal');
    await admin.query(`revoke select on unique_key from ${role}`);
    await expect(outcomeOf(key.text, Api.REST)).rejects.toMatchObject({ code: '42501' });
  } finally {
    await pool.end();
    await admin.query(`drop owned by ${role}`);
    await admin.query(`drop role ${role}`);
  }
});
