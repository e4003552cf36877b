import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { toDecisionTrace } from '@longwave/ad-decision';
import { newId } from '@longwave/ids';
import type { Role } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { FindRequest, FindResponse } from '@longwave/rpc/serving';
import { until } from '@longwave/test-kit';
import { createDiagnostics } from '../src/diagnostics/diagnostics.ts';
import type { ManagementScope } from '../src/http/authenticate.ts';
import { serveHttp, withoutTrace, type HttpWorld } from './_http.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { person } from './_values.ts';

let management: TestManagement;
let http: HttpWorld;
/** What internal-serving knows, by workspace and decision. */
const traces = new Map<string, object>();
const questions: FindRequest[] = [];
let page: FindResponse = { decisions: [], next: undefined };
let isAway = false;

const serving = {
  explain: async ({ workspaceId, decisionId }: { workspaceId: string; decisionId: string }) => {
    if (isAway) throw new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 1 });
    const trace = traces.get(`${workspaceId} ${decisionId}`);
    if (!trace) throw new Problem('not_found', 'There is no such decision.');
    return { traceJson: JSON.stringify(trace) };
  },
  find: async (request: FindRequest) => {
    questions.push(request);
    return page;
  },
};

beforeAll(async () => {
  management = await startTestManagement();
  const { pool, clock } = management;
  http = await serveHttp(management, { diagnostics: createDiagnostics({ pool, serving, clock }) });
}, 120_000);
afterAll(async () => {
  await http[Symbol.asyncDispose]();
  await management[Symbol.asyncDispose]();
});

const golden = JSON.parse(
  readFileSync(new URL('../../../libs/ad-decision/trace-cases/decision-trace.json', import.meta.url), 'utf8'),
) as readonly { readonly known: object; readonly trace: object }[];

/** A decision of a workspace, with a trace. */
function decided(workspaceId: string, changes: object = {}): string {
  const decisionId = newId('dec');
  traces.set(`${workspaceId} ${decisionId}`, { ...golden[0]!.known, decision_id: decisionId, ...changes });
  return decisionId;
}

const tokenOf = (
  workspaceId: string,
  {
    roles = ['owner'],
    scopes = ['management:diagnostics'],
    purposes = ['audit', 'delivery_dispute'],
  }: {
    readonly roles?: readonly Role[];
    readonly scopes?: readonly ManagementScope[];
    readonly purposes?: readonly string[];
  } = {},
) => {
  const actor = person(workspaceId);
  if (actor.kind !== 'principal') throw new Error('a person is a principal');
  const principal = { ...actor.principal, roles: [...roles], user_id: newId('usr') };
  return http.tokenFor({ ...actor, principal }, scopes, newId('cli'), purposes);
};

const tracePath = (workspaceId: string, decisionId: string, query = '') =>
  `/workspaces/${workspaceId}/decisions/${decisionId}/trace${query}`;

async function accessesOf(workspaceId: string, query = '') {
  const token = tokenOf(workspaceId, { scopes: ['management:read'] });
  const { status, json } = await http.call(`/workspaces/${workspaceId}/diagnostics-accesses${query}`, { token });
  expect(status).toBe(200);
  return json;
}

describe('a trace', () => {
  test('is answered without fields that no trace has, and the reading is recorded with everything about it', async () => {
    const workspaceId = newId('ws');
    const decisionId = decided(workspaceId, { price: '12.50', advertiser: 'Acme' });
    const token = tokenOf(workspaceId);
    const { status, json, headers } = await http.call(tracePath(workspaceId, decisionId), { token });
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(json).toEqual({ ...golden[0]!.trace, decision_id: decisionId });
    const { rows, next_cursor } = await accessesOf(workspaceId);
    expect(next_cursor).toBeUndefined();
    expect(rows).toEqual([
      {
        ...{ id: expect.stringMatching(/^dga_/), workspace_id: workspaceId, action: 'trace', decision_id: decisionId },
        ...{
          at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
          question: null,
          outcome: 'answered',
        },
        ...{
          user_id: expect.stringMatching(/^usr_/),
          account_id: expect.any(String),
          client_id: expect.stringMatching(/^cli_/),
        },
        ...{ credential_id: expect.any(String), grant_id: expect.stringMatching(/^gnt_/) },
        purposes: ['delivery_dispute', 'audit'],
      },
    ]);
  });

  test('of another workspace, of an unknown decision and of a text that is no ID is the same 404, recorded as such', async () => {
    const [workspaceId, other] = [newId('ws'), newId('ws')];
    const [foreign, token] = [decided(other), tokenOf(workspaceId)];
    const answers = await Promise.all(
      [foreign, newId('dec'), 'dec_1', newId('op')].map((id) => http.call(tracePath(workspaceId, id), { token })),
    );
    expect(answers.map(({ status, json }) => [status, json.code])).toEqual(answers.map(() => [404, 'not_found']));
    const bodies = answers.map((answer) => withoutTrace(answer).replace(/"instance":"[^"]*"/, ''));
    expect(new Set(bodies).size).toBe(1);
    const { rows } = await accessesOf(workspaceId);
    expect(rows.map((row: { outcome: string }) => row.outcome)).toEqual(answers.map(() => 'not_found'));
    expect(rows.map((row: { decision_id: string | null }) => row.decision_id)).toEqual(
      expect.arrayContaining([foreign, null]),
    );
    expect((await accessesOf(other)).rows).toEqual([]);
    expect((await http.call(tracePath(other, foreign), { token })).status).toBe(404);
  });

  test('needs the scope of diagnostics, and a role that sees campaigns in the whole workspace', async () => {
    const workspaceId = newId('ws');
    const decisionId = decided(workspaceId);
    const statusFor = async (token: string | undefined) => {
      const { status, json } = await http.call(tracePath(workspaceId, decisionId), { token });
      return [status, json.code];
    };
    expect(await statusFor(undefined)).toEqual([401, 'token_missing']);
    for (const scope of ['management:read', 'management:write', 'management:bootstrap'] as const)
      expect(await statusFor(tokenOf(workspaceId, { scopes: [scope] }))).toEqual([403, 'insufficient_scope']);
    for (const role of ['viewer', 'editor', 'analyst', 'reviewer', 'finance'] as const)
      expect(await statusFor(tokenOf(workspaceId, { roles: [role] }))).toEqual([403, 'permission_denied']);
    for (const role of ['admin', 'trafficker', 'sales'] as const)
      expect((await statusFor(tokenOf(workspaceId, { roles: [role] })))[0]).toBe(200);
    expect((await accessesOf(workspaceId)).rows).toHaveLength(3);
  });

  test('is not answered while internal-serving is away', async () => {
    const workspaceId = newId('ws');
    const decisionId = decided(workspaceId);
    isAway = true;
    const answer = await http.call(tracePath(workspaceId, decisionId), { token: tokenOf(workspaceId) });
    isAway = false;
    expect([answer.status, answer.json.code, answer.headers.get('retry-after')]).toEqual([
      ...[503, 'temporarily_unavailable', '1'],
    ]);
    expect((await accessesOf(workspaceId)).rows).toEqual([]);
  });

  test('shows every name of the lists that apps, devices and systems are told by', () => {
    const folder = new URL('../../../libs/audience/data/opawg-user-agents-v2/', import.meta.url);
    const names = readdirSync(folder)
      .filter((file) => file.endsWith('.json') && !file.startsWith('bots'))
      .flatMap((file) => {
        const { entries = [] } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as {
          entries?: { name: string; category?: string }[];
        };
        return entries.flatMap(({ name, category = '' }) => [name, category]);
      });
    expect(names.length).toBeGreaterThan(1_000);
    const labels = toDecisionTrace({
      ...golden[0]!.known,
      request_class: { ...(golden[0]!.known as { request_class: object }).request_class, content_categories: names },
    }).request_class.content_categories;
    expect(labels).toEqual(names);
  });
});

describe('a purpose', () => {
  test('of the request narrows those of the access, and one that the access does not have is refused', async () => {
    const workspaceId = newId('ws');
    const decisionId = decided(workspaceId);
    const token = tokenOf(workspaceId);
    const ask = (query: string, by = token) => http.call(tracePath(workspaceId, decisionId, query), { token: by });
    expect((await ask('?purpose=audit')).status).toBe(200);
    expect((await accessesOf(workspaceId)).rows).toMatchObject([{ purposes: ['audit'] }]);
    const other = await ask('?purpose=quality_assurance');
    expect([other.status, other.json.code, other.json.detail]).toEqual([
      ...[403, 'permission_denied', 'This access was given for delivery_dispute, audit.'],
    ]);
    for (const query of ['?purpose=curiosity', '?purpose=', '?reason=audit', '?purpose=audit&purpose=audit'])
      expect((await ask(query)).status).toBe(422);
    const without = await ask('', tokenOf(workspaceId, { purposes: [] }));
    expect([without.status, without.json.code]).toEqual([403, 'permission_denied']);
    expect((await accessesOf(workspaceId)).rows).toHaveLength(1);
  });
});

describe('the record of readings', () => {
  test('is written before the answer: while it cannot be written, nothing is answered', async () => {
    const workspaceId = newId('ws');
    const decisionId = decided(workspaceId);
    const blocker = await management.pool.connect();
    await blocker.query('begin');
    await blocker.query('lock table diagnostics_access in share mode');
    let isAnswered = false;
    const answer = http.call(tracePath(workspaceId, decisionId), { token: tokenOf(workspaceId) }).then((one) => {
      isAnswered = true;
      return one;
    });
    const isWaiting = async () =>
      (await blocker.query(`select from pg_locks where not granted and relation = 'diagnostics_access'::regclass`))
        .rowCount === 1;
    await until(isWaiting);
    expect(isAnswered).toBe(false);
    await blocker.query('commit');
    blocker.release();
    expect((await answer).status).toBe(200);
  });

  test('is changed and deleted by nobody', async () => {
    const workspaceId = newId('ws');
    await http.call(tracePath(workspaceId, decided(workspaceId)), { token: tokenOf(workspaceId) });
    const { pool } = management;
    for (const statement of ['update diagnostics_access set purposes = $$ {} $$', 'delete from diagnostics_access'])
      await expect(pool.query(`${statement} where workspace_id = $1`, [workspaceId])).rejects.toThrow('append-only');
    await expect(pool.query('truncate diagnostics_access')).rejects.toThrow('permission denied');
  });

  test('is read by owners and administrators with the scope of reading, in pages, the newest first', async () => {
    const workspaceId = newId('ws');
    const ids = [];
    for (let at = 0; at < 5; at++) {
      ids.unshift(decided(workspaceId));
      await http.call(tracePath(workspaceId, ids[0]!), { token: tokenOf(workspaceId) });
    }
    const found: string[] = [];
    let query = '?limit=2';
    for (let pages = 1; ; pages++) {
      const { rows, next_cursor: cursor, limit } = await accessesOf(workspaceId, query);
      found.push(...rows.map((row: { decision_id: string }) => row.decision_id));
      expect([rows.length, limit]).toEqual([pages === 3 ? 1 : 2, 2]);
      if (cursor === undefined) break;
      query = `?limit=2&cursor=${cursor}`;
    }
    expect(found).toEqual(ids);
    expect((await accessesOf(workspaceId, '?limit=1000')).limit).toBe(200);

    const path = `/workspaces/${workspaceId}/diagnostics-accesses`;
    const statusFor = async (roles: readonly Role[], scopes: readonly ManagementScope[]) =>
      (await http.call(path, { token: tokenOf(workspaceId, { roles, scopes }) })).status;
    expect(await statusFor(['admin'], ['management:read'])).toBe(200);
    expect(await statusFor(['trafficker'], ['management:read'])).toBe(403);
    expect(await statusFor(['owner'], ['management:diagnostics'])).toBe(403);
    const [, cursor] = query.split('cursor=');
    const foreign = newId('ws');
    const stolen = await http.call(`/workspaces/${foreign}/diagnostics-accesses?cursor=${cursor}`, {
      token: tokenOf(foreign, { scopes: ['management:read'] }),
    });
    expect([stolen.status, stolen.json.code]).toEqual([422, 'invalid_cursor']);
  });
});

describe('decisions', () => {
  const at = Date.parse('2026-11-20T10:00:00Z');
  const found = (decisionId: string, picks: FindResponse['decisions'][number]['picks'] = []) => ({
    ...{ decisionId, atMs: BigInt(at), podcastId: newId('pod'), episodeId: newId('ep') },
    ...{ servingPlanId: '', noAdReason: picks.length > 0 ? '' : 'no_plan', picks },
  });

  test('are found by every parameter, the search is recorded, and pages that follow cover the same time', async () => {
    const workspaceId = newId('ws');
    const token = tokenOf(workspaceId);
    const wanted = {
      ...{ podcast_id: newId('pod'), episode_id: newId('ep'), line_item_id: newId('li'), verdict: 'capped' },
      ...{ campaign_id: newId('cmp'), creative_id: newId('crv'), outcome: 'empty', no_ad_reason: 'capped' },
    };
    const one = newId('dec');
    const pick = {
      breakKey: 'pre',
      slot: 0,
      campaignId: newId('cmp'),
      lineItemId: newId('li'),
      creativeId: newId('crv'),
    };
    page = { decisions: [found(one, [pick])], next: { atMs: BigInt(at), decisionId: one } };
    questions.length = 0;
    const list = (query: Record<string, string>) =>
      http.call(`/workspaces/${workspaceId}/decisions?${new URLSearchParams(query)}`, { token });
    const first = await list({ ...wanted, limit: '1', purpose: 'audit' });
    expect(first.status).toBe(200);
    expect(first.json.rows).toEqual([
      {
        ...{ decision_id: one, decided_at: '2026-11-20T10:00:00.000Z', serving_plan_id: null, outcome: 'filled' },
        ...{
          podcast_id: expect.stringMatching(/^pod_/),
          episode_id: expect.stringMatching(/^ep_/),
          no_ad_reason: null,
        },
        picks: [
          {
            ...{ break_key: 'pre', slot: 0, campaign_id: pick.campaignId, line_item_id: pick.lineItemId },
            creative_id: pick.creativeId,
          },
        ],
      },
    ]);
    management.aheadMs += 60_000;
    page = { decisions: [], next: undefined };
    const cursor = first.json.next_cursor as string;
    const second = await list({ ...wanted, limit: '1', purpose: 'audit', cursor });
    expect(second.json).toEqual({ rows: [], from: first.json.from, to: first.json.to, limit: 1 });
    const [asked, again] = questions;
    expect(asked).toMatchObject({
      ...{ workspaceId, podcastId: wanted.podcast_id, episodeId: wanted.episode_id, lineItemId: wanted.line_item_id },
      ...{ verdict: 'capped', campaignId: wanted.campaign_id, creativeId: wanted.creative_id, outcome: 'empty' },
      ...{ noAdReason: 'capped', limit: 1, after: undefined },
    });
    expect(asked!.toMs - asked!.fromMs).toBe(86_400_000n);
    expect(again).toEqual({ ...asked, after: { atMs: BigInt(at), decisionId: one } });

    const { rows } = await accessesOf(workspaceId);
    const { from, to } = first.json;
    const search = { action: 'search', decision_id: null, purposes: ['audit'], question: { ...wanted, from, to } };
    expect(rows).toMatchObject([search, search]);

    for (const other of [
      { ...wanted, verdict: 'won', cursor },
      { cursor },
      { ...wanted, from: '2026-11-20T00:00:00Z', cursor },
    ])
      expect((await list(other)).json.code).toBe('invalid_cursor');
  });

  test('are searched within 31 days, and a wrong question is refused', async () => {
    const workspaceId = newId('ws');
    const token = tokenOf(workspaceId);
    const codeOf = async (query: string) => {
      const { status, json } = await http.call(`/workspaces/${workspaceId}/decisions?${query}`, { token });
      return status === 200 ? 200 : json.code;
    };
    page = { decisions: [], next: undefined };
    expect(await codeOf('from=2026-11-01T00:00:00Z&to=2026-12-02T00:00:00Z')).toBe(200);
    expect(await codeOf('from=2026-11-01T00:00:00%2B02:00&to=2026-11-02T00:00:00Z')).toBe(200);
    for (const query of [
      'from=2026-11-01T00:00:00Z&to=2026-12-02T00:00:00.001Z',
      'from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z',
      'from=2026-11-01',
      'podcast_id=x',
      `line_item_id=${newId('pod')}`,
      'verdict=unlucky',
      'outcome=half',
      'limit=0',
      'limit=x',
      'page=2',
    ])
      expect(await codeOf(query)).toBe('validation_failed');
    expect(await codeOf('cursor=abc')).toBe('invalid_cursor');
  });

  test('of a workspace are searched with the scope and the role of traces alone', async () => {
    const workspaceId = newId('ws');
    const path = `/workspaces/${workspaceId}/decisions`;
    const codeFor = async (token: string) => (await http.call(path, { token })).json.code;
    expect(await codeFor(tokenOf(workspaceId, { scopes: ['management:read'] }))).toBe('insufficient_scope');
    expect(await codeFor(tokenOf(workspaceId, { roles: ['editor'] }))).toBe('permission_denied');
    expect(await codeFor(tokenOf(newId('ws')))).toBe('not_found');
    expect((await accessesOf(workspaceId)).rows).toEqual([]);
  });
});
