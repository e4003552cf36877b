import { createPrivateKey, createPublicKey, randomUUID, verify, type KeyObject } from 'node:crypto';
import { newMachineKey, proveMachineKey, publicHalf } from '@longwave/exchange-client';
import { messageDigestOf, signMessage, type Envelope } from '@longwave/exchange-messages';
import type { Fleet } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createPool, transaction, type Pool } from '@longwave/postgres';
import { createAccount, grantExchangeAccess, type Operator } from '@longwave/test-kit/clients';
import { until } from '@longwave/test-kit';
import pg from 'pg';
import { compare, median, ratePerSecond, type Row } from './measure.ts';

const streams = 8;
const perBatch = 50;
const batchesPerStream = 4;

interface Platform {
  readonly workspaceId: string;
  readonly authorityId: string;
  readonly kid: string;
  readonly privateKey: KeyObject;
  /** Sends a write, and throws for a refusal. */
  readonly post: (path: string, body: string) => Promise<void>;
}

async function connectPlatform(fleet: Fleet, operator: Operator): Promise<Platform> {
  const { workspaceId } = await createAccount(operator, 'network');
  const access = await grantExchangeAccess({ fleet, operator }, workspaceId);
  const { authorityId, settings } = access;
  const jwk = await newMachineKey();
  const proof = await proveMachineKey(jwk, { workspaceId, authorityId });
  const kid = await access.registerKey({ jwk: publicHalf(jwk), proof });
  const resource = `${fleet.urls.api}/hosting-exchange/v1`;
  const form = { grant_type: 'client_credentials', resource, scope: 'exchange:write exchange:read' };
  const granted = await fetch(settings.token_url, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${settings.client_id}:${settings.client_secret}`).toString('base64')}`,
    },
    body: new URLSearchParams(form),
  });
  const { access_token: token } = (await granted.json()) as { access_token: string };
  const post = async (path: string, body: string) => {
    const response = await fetch(`${resource}/workspaces/${workspaceId}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body,
    });
    if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  };
  return { workspaceId, authorityId, kid, privateKey: createPrivateKey({ key: jwk, format: 'jwk' }), post };
}

const capability = (surfaceId: string) => ({
  surface_id: surfaceId,
  protocols: ['progressive'],
  interstitials: 'none',
  ...{ ranges: true, max_redirects: 5, ads_video: false, client_events: 'none', measurement: 'server_log' },
  ...{ personalisation: 'per_download', offline_audio: true },
});

type Stream = { readonly id: string; sequence: number; prev: string | null };

/** The next message of a stream, signed. */
function nextMessage(platform: Platform, stream: Stream, said: Readonly<Record<string, unknown>>): Envelope {
  stream.sequence += 1;
  const payload = JSON.stringify({
    ...{ workspace_id: platform.workspaceId, authority_id: platform.authorityId, stream_id: stream.id },
    ...{ seq: stream.sequence, prev: stream.prev },
    ...{ event_id: randomUUID(), issued_at: new Date().toISOString() },
    ...said,
  });
  const envelope = signMessage(payload, platform.privateKey, platform.kid);
  stream.prev = messageDigestOf(envelope.protected, envelope.payload);
  return envelope;
}

/** An episode whose master nobody can fetch: it has a route all the same. */
const snapshotAfter = (platform: Platform, stream: Stream) =>
  nextMessage(platform, stream, {
    schema: 'content-snapshot/1',
    subject: { type: 'episode', source_id: 'ep', source_version: 1 },
    body: {
      episode: {
        ...{ guid: 'ep', title_ref: 'Bench', duration_ms: 1_000, explicit: false, language: 'en' },
        ...{ content_categories: [], published_at: new Date().toISOString() },
        audio_master: {
          ...{ url: 'https://nowhere.invalid/1.mp3', digest: `sha256:${'0'.repeat(64)}`, bytes: 1, codec: 'mp3' },
          ...{ channels: 2, sample_rate: 48_000 },
        },
      },
    },
  });

/** A batch that goes on with a stream. */
const nextBatch = (platform: Platform, stream: Stream, size = perBatch): Envelope[] =>
  Array.from({ length: size }, () => {
    const surface = `${stream.id.replace(':', '-')}-${(stream.sequence + 1) % 10}`;
    return nextMessage(platform, stream, {
      schema: 'surface-capability/1',
      subject: { type: 'surface', source_id: surface, source_version: stream.sequence + 1 },
      body: capability(surface),
    });
  });

const newStream = (): Stream => ({ id: `show:${newId('req').slice(-12)}`, sequence: 0, prev: null });

/** What anybody would write: verify each signature, parse the JSON, insert the batch in one transaction under the same unique keys. */
async function rawInserts(pool: Pool, key: KeyObject): Promise<(batch: readonly Envelope[]) => Promise<void>> {
  await pool.query(`create table if not exists raw_message (
    stream_id text, sequence bigint, digest text unique, event_id uuid unique, source_id text, source_version bigint,
    protected text, payload text, signature text, primary key (stream_id, sequence), unique (source_id, source_version))`);
  return async (batch) => {
    const rows = batch.map(({ protected: header, payload, signature }) => {
      const signed = Buffer.from(`${header}.${payload}`);
      if (!verify(null, signed, key, Buffer.from(signature, 'base64url'))) throw new Error('a signature is wrong');
      const said = JSON.parse(Buffer.from(payload, 'base64url').toString()) as {
        readonly stream_id: string;
        readonly seq: number;
        readonly event_id: string;
        readonly subject: { readonly source_id: string; readonly source_version: number };
      };
      const { source_id, source_version } = said.subject;
      const place = { stream_id: said.stream_id, sequence: said.seq, event_id: said.event_id };
      return {
        ...place,
        source_id,
        source_version,
        digest: messageDigestOf(header, payload),
        protected: header,
        payload,
        signature,
      };
    });
    await transaction(pool, (tx) =>
      tx.query('insert into raw_message select * from json_populate_recordset(null::raw_message, $1)', [
        JSON.stringify(rows),
      ]),
    );
  };
}

const p99 = (times: number[]) => times.sort((a, b) => a - b)[Math.floor(0.99 * (times.length - 1))] ?? 0;

/** The 99th percentile, in ms, of `total` calls, 4 at a time. */
async function slowest(total: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  await ratePerSecond(total, 4, async () => {
    const begun = performance.now();
    await work();
    times.push(performance.now() - begun);
  });
  return p99(times);
}

/** A stream whose head is at 1,000,000: rows as the service writes them, but with payloads of a byte. */
async function longStream(pool: Pool, platform: Platform): Promise<Stream> {
  const stream = newStream();
  await pool.query(`insert into stream (workspace_id, stream_id, authority_id, state) values ($1, $2, $3, 'open')`, [
    platform.workspaceId,
    stream.id,
    platform.authorityId,
  ]);
  await pool.query(
    `insert into message (workspace_id, stream_id, sequence, digest, authority_id, key_id, schema, subject_type, source_id,
       source_version, event_id, issued_at, protected, payload, signature, state, resource_type, resource_id, operation_id, receipt_id,
       received_at, accepted_at)
     select $1, $2, n, 'sha256:' || encode(sha256(convert_to($2 || n, 'UTF8')), 'hex'), $3, $4, 'platform-evidence/1', 'evidence',
       $2 || '-' || (n % 1000), n, gen_random_uuid(), now(), '', '', '', 'accepted', 'platform_evidence', 'pev', 'op', 'rcp', now(), now()
     from generate_series(1, 1000000) n`,
    [platform.workspaceId, stream.id, platform.authorityId, platform.kid],
  );
  await pool.query('analyze message');
  const { rows } = await pool.query<{ digest: string }>(
    'select digest from message where workspace_id = $1 and stream_id = $2 order by sequence desc limit 1',
    [platform.workspaceId, stream.id],
  );
  return { ...stream, sequence: 1_000_000, prev: rows[0]!.digest };
}

async function makeSchema(adminDatabaseUrl: string): Promise<void> {
  const admin = new pg.Client(adminDatabaseUrl);
  await admin.connect();
  await admin.query('create schema if not exists bench');
  await admin.end();
}

/** Messages of a hosting platform, and its questions for routes, against the nearest thing that anybody would write. */
export async function exchangeRate(fleet: Fleet, operator: Operator): Promise<Row[]> {
  const platform = await connectPlatform(fleet, operator);
  const submit = (batch: readonly Envelope[]) => platform.post('/messages', JSON.stringify({ messages: batch }));
  const first = newStream();
  // The key and the grant reach the exchange by events.
  await until(() =>
    submit(nextBatch(platform, first, 1)).then(
      () => true,
      () => false,
    ),
  );

  await makeSchema(fleet.adminDatabaseUrl);
  const pool = createPool(fleet.adminDatabaseUrl, 'bench', { name: 'bench' });
  const own = createPool(fleet.adminDatabaseUrl, 'exchange', { name: 'bench', statementTimeoutMs: 600_000 });
  try {
    const insert = await rawInserts(pool, createPublicKey(platform.privateKey));
    const batches = () =>
      Array.from({ length: streams }, newStream).map((stream) => ({
        batches: Array.from({ length: batchesPerStream }, () => nextBatch(platform, stream)),
      }));
    const total = streams * batchesPerStream * perBatch;
    const rate = async (take: (batch: readonly Envelope[]) => Promise<void>) => {
      const prepared = batches();
      const begun = performance.now();
      await Promise.all(
        prepared.map(async ({ batches: all }) => {
          for (const batch of all) await take(batch);
        }),
      );
      return { value: (total * 1000) / (performance.now() - begun), items: total };
    };
    const accepted = await compare(
      { name: 'exchange: messages of 8 streams', unit: '/s', baselineName: 'verify and insert by raw code' },
      3,
      () => rate(submit),
      () => rate(insert),
    );

    const question = JSON.stringify({ source: { source_id: 'ep' }, surface_id: `${first.id.replace(':', '-')}-1` });
    const ask = () => platform.post('/delivery-resolutions', question);
    await submit([snapshotAfter(platform, first)]);
    await until(() =>
      ask().then(
        () => true,
        () => false,
      ),
    );
    const resolution = await compare(
      {
        name: 'exchange: resolutions, 99 of 100 wait at most (less is better)',
        unit: 'ms',
        baselineName: 'an indexed select by raw pg',
      },
      3,
      () => slowest(1_000, ask),
      () =>
        slowest(1_000, () =>
          own.query({
            name: 'bench_select',
            text: 'select * from surface where authority_id = $1 and surface_id = $2',
            values: [platform.authorityId, `${first.id.replace(':', '-')}-1`],
          }),
        ),
    );

    const long = await longStream(own, platform);
    const short = newStream();
    const msPerBatch = async (stream: Stream) => {
      const times: number[] = [];
      for (let round = 0; round < 5; round++) {
        const batch = nextBatch(platform, stream, 20);
        const begun = performance.now();
        await submit(batch);
        times.push(performance.now() - begun);
      }
      return median(times);
    };
    const flat = await compare(
      {
        name: 'exchange: 20 messages after 1,000,000 of the stream (less is better)',
        unit: 'ms',
        baselineName: 'the first of a stream',
      },
      3,
      () => msPerBatch(long),
      () => msPerBatch(short),
    );
    return [accepted, resolution, flat];
  } finally {
    await own.end();
    await pool.end();
  }
}
