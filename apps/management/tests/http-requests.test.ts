import { describe, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { apiUrl, withoutTrace, type HttpAnswer } from './_http.ts';
import { api, management, token, world } from './_shared-http.ts';
import { guestIn, person } from './_values.ts';
import { createWorld } from './_world.ts';

const at = (path: string) => `/workspaces/${world.workspaceId}${path}`;
const advertiser = (legalName = 'Tidewater') => ({
  subject: { type: 'advertisers', id: null, version: 0 },
  changes: { legal_name: legalName, brands: [], ad_product_categories: [] },
  reason: 'A new customer.',
});
const command = (type: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  api.call(at(`/commands/${type}`), { token, body, headers: { 'idempotency-key': newId('req'), ...headers } });

const problem = (answer: HttpAnswer) => ({ status: answer.status, code: answer.json?.code as string });

test('a command is answered with its operation, which can be read with its subject, its history and its receipt', async () => {
  const created = await command('advertiser.create', advertiser());
  expect([created.status, created.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  const { id, subject, receipt_id: receiptId } = created.json;
  expect(created.headers.get('location')).toBe(`${apiUrl}/management/v1${at(`/operations/${id}`)}`);
  const operation = await api.call(at(`/operations/${id}`), { token });
  expect(operation.json).toEqual(created.json);
  const resource = await api.call(at(`/resources/advertisers/${subject.id}`), { token });
  expect(resource.json).toMatchObject({ id: subject.id, version: 1, lifecycle_state: 'draft' });
  expect(resource.headers.get('etag')).toBe(`"1.${resource.json.digest.slice(0, 16)}"`);
  const versions = await api.call(at(`/resources/advertisers/${subject.id}/versions`), { token });
  expect(versions.json.rows).toMatchObject([{ version: 1, updated_by: { operation_id: id } }]);
  const receipt = await api.call(at(`/receipts/${receiptId}`), { token });
  expect(receipt.json).toMatchObject({ id: receiptId, operation_id: id, statement: { proves: 'acceptance' } });
});

describe('a read', () => {
  test('answers 304 to a client that has the version, and the new version after a change', async () => {
    const { json } = await command('advertiser.create', advertiser());
    const path = at(`/resources/advertisers/${json.subject.id}`);
    const etag = (await api.call(path, { token })).headers.get('etag')!;
    const again = await api.call(path, { token, headers: { 'if-none-match': `"x", ${etag}` } });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    const subject = { type: 'advertisers', id: json.subject.id };
    const changed = await command(
      'advertiser.revise',
      { subject, changes: { billing_ref: 'D-1' } },
      { 'if-match': etag },
    );
    expect(changed.status).toBe(200);
    const after = await api.call(path, { token, headers: { 'if-none-match': etag } });
    expect([after.status, after.json.version]).toEqual([200, 2]);
  });

  test('of a list goes page by page through every resource once, and says which limit applied', async () => {
    const own = createWorld(management);
    const ownToken = api.tokenFor(own.actor);
    const made = [];
    for (let n = 0; n < 5; n++) made.push((await own.advertiser()).id);
    const path = `/workspaces/${own.workspaceId}/resources/advertisers`;
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await api.call(`${path}?limit=2${cursor && `&cursor=${cursor}`}`, { token: ownToken });
      expect([page.status, page.json.limit]).toEqual([200, 2]);
      seen.push(...page.json.rows.map(({ id }: { id: string }) => id));
      cursor = page.json.next_cursor ?? '';
    } while (cursor);
    expect(seen).toEqual(made);
    expect((await api.call(`${path}?limit=5000`, { token: ownToken })).json.limit).toBe(200);
    expect((await api.call(path, { token: ownToken })).json.limit).toBe(50);
  });

  test.each(['limit=0', 'limit=-1', 'limit=ten', 'limit=1&limit=2', 'colour=red'])(
    'of a list refuses the query %s and names the parameter',
    async (query) => {
      const answer = await api.call(`${at('/resources/advertisers')}?${query}`, { token });
      expect(problem(answer)).toEqual({ status: 422, code: 'validation_failed' });
      expect(answer.json.errors).toMatchObject([{ path: `/query/${query.split('=')[0]}` }]);
    },
  );
});

describe('without a token that is good for it', () => {
  const metadata = `resource_metadata="${apiUrl}/.well-known/oauth-protected-resource/management/v1"`;

  test.each([
    ['no token', undefined, 401, 'token_missing', `Bearer scope="management:read", ${metadata}`],
    ['another token', 'x', 401, 'token_invalid', `Bearer error="invalid_token", scope="management:read", ${metadata}`],
  ])('%s: a request is refused with a challenge', async (_what, sent, status, code, challenge) => {
    const answer = await api.call(at('/resources/advertisers'), { token: sent });
    expect(problem(answer)).toEqual({ status, code });
    expect(answer.headers.get('www-authenticate')).toBe(challenge);
  });

  test('a scope that is missing is named, for reads and for writes', async () => {
    const reader = api.tokenFor(world.actor, ['management:read']);
    const writer = api.tokenFor(world.actor, ['management:write']);
    const read = await api.call(at('/resources/advertisers'), { token: writer });
    const write = await api.call(at('/commands/advertiser.create'), { token: reader, body: advertiser() });
    for (const [answer, scope] of [
      [read, 'management:read'],
      [write, 'management:write'],
    ] as const) {
      expect(problem(answer)).toEqual({ status: 403, code: 'insufficient_scope' });
      expect(answer.headers.get('www-authenticate')).toBe(
        `Bearer error="insufficient_scope", scope="${scope}", ${metadata}`,
      );
    }
  });

  test('a token that provisions workspaces can do nothing else, whatever other scopes it has', async () => {
    const all = ['management:read', 'management:write', 'management:diagnostics', 'management:bootstrap'] as const;
    const bootstrap = api.tokenFor(world.actor, all);
    for (const path of ['/resources/advertisers', '/operations/op_1', '/receipts/rcp_1'])
      expect(problem(await api.call(at(path), { token: bootstrap }))).toEqual({
        status: 403,
        code: 'insufficient_scope',
      });
    const write = await api.call(at('/commands/advertiser.create'), { token: bootstrap, body: advertiser() });
    expect(problem(write)).toEqual({ status: 403, code: 'insufficient_scope' });
  });
});

test('a workspace that the caller does not see answers exactly like one that does not exist', async () => {
  const stranger = api.tokenFor(person(newId('ws')));
  const { json } = await command('advertiser.create', advertiser());
  const paths = [
    '/resources/advertisers',
    `/resources/advertisers/${json.subject.id}`,
    `/resources/advertisers/${json.subject.id}/versions`,
    `/operations/${json.id}`,
    `/receipts/${json.receipt_id}`,
  ];
  for (const path of paths) {
    const foreign = await api.call(at(path), { token: stranger });
    const missing = await api.call(`/workspaces/${newId('ws')}${path}`, { token: stranger });
    expect(problem(foreign)).toEqual({ status: 404, code: 'not_found' });
    expect(withoutTrace(foreign)).toBe(withoutTrace(missing));
  }
});

test('somebody with access to one podcast sees what belongs to it, and nothing else of the workspace', async () => {
  const podcast = await world.podcast();
  const other = await world.podcast();
  const guest = guestIn(world.workspaceId, person(newId('ws')), ['viewer']);
  if (guest.kind !== 'principal') throw new Error('a person');
  const grants = [{ workspace_id: world.workspaceId, podcast_id: podcast.id, roles: ['viewer' as const] }];
  const guestToken = api.tokenFor({ ...guest, principal: { ...guest.principal, grants } });
  expect((await api.call(at(`/resources/podcasts/${podcast.id}`), { token: guestToken })).status).toBe(200);
  expect((await api.call(at(`/resources/podcasts/${other.id}`), { token: guestToken })).status).toBe(404);
  const listed = await api.call(at('/resources/podcasts'), { token: guestToken });
  expect(listed.json.rows.map(({ id }: { id: string }) => id)).toEqual([podcast.id]);
});

describe('a command', () => {
  test('that is sent twenty times at once is carried out once, and every answer has the same bytes', async () => {
    const headers = { 'idempotency-key': newId('req') };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => command('advertiser.create', advertiser(), headers)),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(200);
  });

  test('under a used key with other content is a conflict that names the original operation', async () => {
    const headers = { 'idempotency-key': newId('req') };
    const first = await command('advertiser.create', advertiser(), headers);
    const other = await command('advertiser.create', advertiser('Ebb'), headers);
    expect(problem(other)).toEqual({ status: 409, code: 'idempotency_conflict' });
    expect(other.json).toMatchObject({
      operation_id: first.json.id,
      retry: { class: 'after_read' },
      recovery_url: first.headers.get('location'),
    });
  });

  test('on a stale version is refused with the current one: 412 for If-Match, 409 for subject.version', async () => {
    const { json } = await command('advertiser.create', advertiser());
    const path = at(`/resources/advertisers/${json.subject.id}`);
    const stale = (await api.call(path, { token })).headers.get('etag')!;
    const subject = { type: 'advertisers', id: json.subject.id };
    await command('advertiser.revise', { subject: { ...subject, version: 1 }, changes: { billing_ref: 'D-1' } });
    const current = (await api.call(path, { token })).headers.get('etag')!;
    const change = { changes: { billing_ref: 'D-2' } };
    const byTag = await command('advertiser.revise', { subject, ...change }, { 'if-match': stale });
    const byVersion = await command('advertiser.revise', { subject: { ...subject, version: 1 }, ...change });
    expect([problem(byTag), problem(byVersion)]).toEqual([
      { status: 412, code: 'version_conflict' },
      { status: 409, code: 'version_conflict' },
    ]);
    for (const answer of [byTag, byVersion]) {
      expect(answer.headers.get('etag')).toBe(current);
      expect(answer.json.subject).toEqual({ ...subject, version: 2 });
      expect(answer.json.recovery_url).toBe(`${apiUrl}/management/v1${path}`);
    }
    const both = await command(
      'advertiser.revise',
      { subject: { ...subject, version: 1 }, ...change },
      { 'if-match': current },
    );
    expect(problem(both)).toEqual({ status: 422, code: 'version_guard_mismatch' });
  });

  test.each<[string, unknown, Record<string, string>, number, string]>([
    ['a field twice', '{"subject":{},"subject":{}}', {}, 400, 'malformed_json'],
    ['no JSON', '{', {}, 400, 'malformed_json'],
    ['a list', [], {}, 422, 'validation_failed'],
    ['a field too much', { ...advertiser(), force: true }, {}, 422, 'validation_failed'],
    ['no changes', { subject: advertiser().subject }, {}, 422, 'validation_failed'],
    ['another media type', 'x', { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['a form', 'x', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'unsupported_media_type'],
    ['no key', advertiser(), { 'idempotency-key': '' }, 400, 'idempotency_key_required'],
    ['a malformed key', advertiser(), { 'idempotency-key': 'a b' }, 422, 'idempotency_key_invalid'],
    ['a tag of nothing here', advertiser(), { 'if-match': '"x"' }, 422, 'validation_failed'],
    ['too much', `{"changes":"${'x'.repeat(1024 * 1024)}"}`, {}, 413, 'payload_too_large'],
    ['an answer that is no JSON', advertiser(), { accept: 'text/html' }, 406, 'not_acceptable'],
  ])('with %s is refused', async (_what, body, headers, status, code) => {
    expect(problem(await command('advertiser.create', body, headers))).toEqual({ status, code });
  });

  test('of an unknown type is 404, and a resource type that does not exist too', async () => {
    expect(problem(await command('advertiser.explode', '{'))).toEqual({ status: 404, code: 'unknown_command' });
    expect(problem(await command('constructor', advertiser()))).toEqual({ status: 404, code: 'unknown_command' });
    const list = await api.call(at('/resources/toasters'), { token });
    expect(problem(list)).toEqual({ status: 404, code: 'unknown_resource_type' });
  });
});

describe('a text that no column can hold', () => {
  test.each([
    '/resources/campaigns/%00',
    '/resources/campaigns/%00/versions',
    '/resources/campaigns/%00/versions/1',
    '/operations/%00',
    '/operations/%00/events',
    '/receipts/%00',
    '/uploads/%00/address',
    '/report-runs/%00/result',
  ])('is an unknown id in the path: %s', async (path) => {
    expect(problem(await api.call(at(path), { token }))).toEqual({ status: 404, code: 'not_found' });
  });

  test.each([
    '/resources/campaigns?text=%00',
    '/resources/campaigns?ids=cmp_%00',
    '/resources/campaigns?parent=cmp_%00',
    '/operations?idempotency_key=%00&command_type=campaign.create',
  ])('is refused in the query: %s', async (path) => {
    expect(problem(await api.call(at(path), { token }))).toEqual({ status: 422, code: 'validation_failed' });
  });

  test.each(['\u0000', '\ud800'])('is refused in a command: %j', async (text) => {
    const named = await command('campaign.pause', {
      subject: { type: 'campaigns', id: text },
      changes: { cause: 'Rain.' },
    });
    const below = await command('episode.create', {
      subject: { type: 'episodes', id: null },
      changes: { podcast_id: text, title: 'One' },
    });
    for (const [answer, path] of [
      [named, '/subject/id'],
      [below, '/changes/podcast_id'],
    ] as const) {
      expect(problem(answer)).toEqual({ status: 422, code: 'validation_failed' });
      expect(answer.json.errors).toContainEqual(expect.objectContaining({ path, code: 'illegal_text' }));
    }
  });
});

test('a problem says what it is, where it happened and what to do', async () => {
  const answer = await command('advertiser.create', { ...advertiser(), changes: { legal_name: 7, size: 1 } });
  expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  const trace = answer.headers.get('x-request-id')!;
  expect(answer.json).toMatchObject({
    type: 'urn:longwave:problem:validation-failed',
    title: 'A field is not valid',
    status: 422,
    code: 'validation_failed',
    instance: `urn:longwave:request:${trace}`,
    trace_id: trace,
    retry: { class: 'after_fix' },
    recovery_url: `${apiUrl}/management/v1/catalog`,
  });
  const paths = answer.json.errors.map(({ path }: { path: string }) => path);
  expect(paths).toEqual(expect.arrayContaining(['/changes/legal_name', '/changes/size']));
});

test('a method that a path does not have is refused with those that it has, and a path that is none is not found', async () => {
  const put = await api.call(at('/resources/advertisers'), { token, method: 'PUT' });
  expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  const get = await api.call(at('/commands/advertiser.create'), { token });
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
  expect((await api.call('/nothing', { token })).status).toBe(404);
  expect((await api.call('/workspaces/%E0%A4%A', { token })).status).toBe(404);
});

test('requests are counted for the client by the plan of its account, and one too many is told when to come again', async () => {
  const reset = { 'RateLimit-Limit': '60', 'RateLimit-Remaining': '0', 'RateLimit-Reset': '1800000000' };
  api.rates.count = async (key) =>
    key.startsWith('management:')
      ? { throttled: true, headers: { ...reset, 'Retry-After': '17' } }
      : { throttled: false, headers: { ...reset, 'RateLimit-Limit': '6000' } };
  try {
    const limited = api.tokenFor(world.actor, ['management:read'], 'longwave-cli/usr_1/acc_1');
    const answer = await api.call(at('/resources/advertisers'), { token: limited });
    expect(problem(answer)).toEqual({ status: 429, code: 'rate_limited' });
    expect(answer.json.retry).toEqual({ class: 'after_delay', after_seconds: 17 });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'retry-after': '17',
      'ratelimit-limit': '60',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '1800000000',
    });
    expect(api.counted.at(-1)).toEqual({ key: 'management:longwave-cli/usr_1/acc_1', limit: 60 });
  } finally {
    api.rates.count = async () => ({ throttled: false, headers: {} });
  }
});

test('the metadata of the protected resource name the API, its scopes and the authorization server', async () => {
  const response = await fetch(`${api.origin}/.well-known/oauth-protected-resource/management/v1`);
  expect(await response.json()).toMatchObject({
    resource: `${apiUrl}/management/v1`,
    authorization_servers: ['http://base.test'],
    scopes_supported: ['management:read', 'management:write', 'management:diagnostics', 'management:bootstrap'],
  });
});

test('what became of the calls of a tracking endpoint or a creative is shown to who sees it, and to nobody else', async () => {
  const world = createWorld(management);
  const [endpoint, creative] = [await world.trackingEndpoint(), await world.creative()];
  const none = { delivered: 0, failed: 0, given_up: 0, waiting: 0 };
  const paths = [`tracking-endpoints/${endpoint.id}/calls`, `creatives/${creative.id}/tracker-calls`];
  for (const path of paths) {
    const token = api.tokenFor(person(world.workspaceId, ['viewer']));
    expect(await api.call(`/workspaces/${world.workspaceId}/${path}`, { token })).toMatchObject({
      ...{ status: 200, json: none },
    });
    const other = createWorld(management);
    const foreign = await api.call(`/workspaces/${other.workspaceId}/${path}`, {
      token: api.tokenFor(person(other.workspaceId, ['admin'])),
    });
    expect(foreign.status).toBe(404);
  }
});
