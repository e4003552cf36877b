import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import type { ExplainFitRequest } from '@longwave/rpc/forecast';
import { Window, type ReadReportRequest, type ReadReportResponse } from '@longwave/rpc/audience';
import { createReadLineFunnel, type LineFunnelDeps } from '../src/commerce/funnel/read-line-funnel.ts';
import { serveHttp, withoutTrace, type HttpWorld } from './_http.ts';
import { startTestManagement, type TestManagement } from './_management.ts';
import { until } from '@longwave/test-kit';
import { person } from './_values.ts';
import { createWorld } from './_world.ts';

const hourMs = 3_600_000;
let management: TestManagement;
let http: HttpWorld;
/** What was asked of internal-serving and of the sink, each with the workspace and the line item. */
const questions: string[] = [];
let isAway = false;
/** Who is in front by the forecaster, which is away without. */
let winnerId: string | undefined;
/** What bounds the line item in the second hour. */
let shortBy = 'day';
/** Where the funnel waits: what it was asked with. */
let waiting: { readonly signals: AbortSignal[]; readonly until: Promise<void> } | undefined;

/** Internal-serving and the sink: they know the numbers of two hours, whoever asks. */
const first = () => management.clock().getTime() - (management.clock().getTime() % hourMs) - 2 * hourMs;
const ask = (name: string, workspaceId: string, lineItemId: string | undefined) => {
  if (isAway) throw new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 1 });
  questions.push(`${name} ${workspaceId} ${lineItemId}`);
};
const verdict = (code: string, considered: bigint, notLookedAt = 0n) => ({ code, considered, notLookedAt });
const pacing = {
  readPacing: async ({ workspaceId, lineItemIds }: { workspaceId: string; lineItemIds: string[] }) => {
    ask('now', workspaceId, lineItemIds[0]);
    const line = { goal: 100n, countingBasis: 'ad_delivered', windowStartMs: 0n, windowEndMs: 1n, used: 30n };
    const stands = { committed: 28.5, target: 30, deliveryRate: 0.9, urgency: 1, state: 'behind', planDigest: '' };
    return { lineItems: [{ lineItemId: lineItemIds[0]!, ...line, ...stands, updatedAtMs: BigInt(first()) }] };
  },
  readPacingHours: async ({ workspaceId, lineItemId }: { workspaceId: string; lineItemId: string }) => {
    ask('hours', workspaceId, lineItemId);
    const hour = { target: 30, committed: 28.5, granted: 31n, used: 30n };
    return { hours: [{ hourMs: BigInt(first() + hourMs), ...hour, shortBy }] };
  },
  readFunnel: async (
    { workspaceId, lineItemId }: { workspaceId: string; lineItemId: string },
    { signal }: { readonly signal: AbortSignal },
  ) => {
    waiting?.signals.push(signal);
    await waiting?.until;
    ask('funnel', workspaceId, lineItemId);
    const offered = { requests: 50n, breaks: 80n, opportunities: 120n };
    const none = { requests: 0n, breaks: 0n, opportunities: 0n };
    return {
      hours: [
        { hourMs: BigInt(first()), ...offered, verdicts: [verdict('won', 20n), verdict('no_lease', 5n, 32n)] },
        { hourMs: BigInt(first() + hourMs), ...none, verdicts: [verdict('outranked', 1n, 16n), verdict('won', 10n)] },
      ],
      opportunitiesUntilMs: BigInt(first() + hourMs),
    };
  },
  explainFit: async ({ workspaceId, lineItem, fromMs, toMs }: ExplainFitRequest) => {
    const line = JSON.parse(Buffer.from(lineItem).toString()) as { line_item_id: string };
    ask('fit', workspaceId, line.line_item_id);
    if (!winnerId) throw new Problem('temporarily_unavailable');
    const numbers = { rows: 40, breaks: 80n, fits: 30n, rareValuesHidden: true };
    const stages = [
      { code: 'below_floor', breaks: 10n },
      { code: 'targeting_country', breaks: 40n },
    ];
    const winners = [winnerId, newId('li')].map((lineItemId) => ({ lineItemId, slots: 7n }));
    return { fromMs, toMs, ...numbers, stages, winners };
  },
} as unknown as Omit<LineFunnelDeps, 'readReport' | 'pool' | 'clock'>;
async function* readReport({ workspaceId, filters, metrics }: ReadReportRequest): AsyncGenerator<ReadReportResponse> {
  ask(`ads ${metrics.join()}`, workspaceId, filters[0]?.keys[0]);
  const basis = {
    methodologyVersion: '1',
    completeUntilMs: BigInt(first()),
    window: Window.CALENDAR_UTC,
    restated: [],
  };
  yield { content: { $case: 'basis', value: basis } };
  const keys = [`${new Date(first()).toISOString().slice(0, 13)}:00:00Z`];
  yield { content: { $case: 'rows', value: { rows: [{ keys, values: [20n, 19n, 18n, 17n] }] } } };
}

beforeAll(async () => {
  management = await startTestManagement();
  http = await serveHttp(management, {
    readLineFunnel: createReadLineFunnel({
      ...{ ...pacing, pool: management.pool, clock: management.clock },
      readReport: readReport as LineFunnelDeps['readReport'],
    }),
  });
}, 120_000);
afterAll(async () => {
  await http[Symbol.asyncDispose]();
  await management[Symbol.asyncDispose]();
});

test('a line item is told by the hour what was offered, what was decided about it and what became of it, each number where it is known', async () => {
  const w = createWorld(management);
  const { lineItem } = await w.booked();
  const path = `/workspaces/${w.workspaceId}/line-items/${lineItem.id}/funnel`;
  const { lineItem: winner } = await w.booked();
  winnerId = winner.id;
  const { status, json } = await http.call(path, { token: http.tokenFor(w.actor) });
  winnerId = undefined;
  expect(status).toBe(200);
  const [one, two] = [first(), first() + hourMs].map((ms) => new Date(ms).toISOString());
  const won = (considered: number) => ({ code: 'won', considered, not_looked_at: 0 });
  const noLease = { code: 'no_lease', considered: 5, not_looked_at: 32 };
  const outranked = { code: 'outranked', considered: 1, not_looked_at: 16 };
  const offered = { requests: 50, breaks: 80, opportunities: 120 };
  const ads = { decided: 20, served: 19, delivered: 18, confirmed: 17 };
  expect(json).toMatchObject({
    ...{ line_item_id: lineItem.id, opportunities_until: two, data_watermark: one },
    pacing: { goal: 100, state: 'behind', urgency: 1, used: 30, committed: 28.5 },
    total: {
      ...{ ...offered, ...ads },
      verdicts: [
        { ...noLease, change: 'quantity' },
        { ...outranked, change: 'priority' },
        { ...won(30), change: null },
      ],
    },
    fit: {
      ...{ sampled_plays: 40, breaks: 80, fits: 30, rare_values_hidden: true },
      stages: [
        { code: 'targeting_country', breaks: 40, change: 'targeting.countries' },
        { code: 'below_floor', breaks: 10, change: null },
      ],
      winners: [{ line_item_id: winner.id, name: winner.attributes['name'], type: 'guaranteed', slots: 7 }],
    },
    hours: [
      { hour: one, pacing: null, ...offered, ...ads, verdicts: [noLease, won(20)] },
      {
        hour: two,
        pacing: { short_by: 'day', granted: 31 },
        requests: 0,
        confirmed: 0,
        verdicts: [outranked, won(10)],
      },
    ],
  });
  expect([Date.parse(json.to) - Date.parse(json.from), Date.parse(json.from) % hourMs]).toEqual([24 * hourMs, 0]);
  expect(questions.splice(0).toSorted()).toEqual(
    ['ads ads_decided,ads_served,ads_delivered,ads_confirmed', 'fit', 'funnel', 'hours', 'now'].map(
      (name) => `${name} ${w.workspaceId} ${lineItem.id}`,
    ),
  );
  const without = await http.call(path, { token: http.tokenFor(w.actor) });
  expect([without.status, without.json.fit, without.json.total]).toEqual([200, null, json.total]);
  questions.length = 0;
});

test('where slots are kept for later by the plan alone, no other setting is proposed', async () => {
  const w = createWorld(management);
  const { lineItem } = await w.booked();
  shortBy = 'plan';
  const { json } = await http.call(`/workspaces/${w.workspaceId}/line-items/${lineItem.id}/funnel`, {
    token: http.tokenFor(w.actor),
  });
  shortBy = 'day';
  expect(json.total.verdicts.map(({ code, change }: { code: string; change: string }) => [code, change])).toEqual([
    ['no_lease', null],
    ['outranked', 'priority'],
    ['won', null],
  ]);
  questions.length = 0;
});

test('two are answered at a time by workspace, a third is told to wait; the work of one whose caller has left ends', async () => {
  const w = createWorld(management);
  const { lineItem } = await w.booked();
  const go = Promise.withResolvers<void>();
  waiting = { signals: [], until: go.promise };
  const { signals } = waiting;
  const call = (init: object = {}) =>
    http.call(`/workspaces/${w.workspaceId}/line-items/${lineItem.id}/funnel`, {
      ...{ token: http.tokenFor(w.actor), ...init },
    });
  const gone = new AbortController();
  const two = [call(), call({ signal: gone.signal }).catch(() => undefined)];
  await until(() => signals.length === 2);
  const third = await call();
  expect([third.status, third.json.code]).toEqual([429, 'rate_limited']);
  gone.abort();
  await until(() => signals.some(({ aborted }) => aborted));
  waiting = undefined;
  go.resolve();
  expect((await two[0])!.status).toBe(200);
  await Promise.all(two);
  expect((await call()).status).toBe(200);
  questions.length = 0;
});

test('only who sees campaigns reads it; a line item of another workspace is a missing one, and nobody is asked about it', async () => {
  const [w, stranger] = [createWorld(management), createWorld(management)];
  const { lineItem } = await w.booked();
  const pathOf = (workspaceId: string, id: string, query = '') =>
    `/workspaces/${workspaceId}/line-items/${id}/funnel${query}`;
  for (const role of ['viewer', 'editor', 'analyst', 'reviewer'] as const) {
    const token = http.tokenFor(person(w.workspaceId, [role]));
    expect([404, 403]).toContain((await http.call(pathOf(w.workspaceId, lineItem.id), { token })).status);
  }
  const foreign = http.tokenFor(stranger.actor);
  const missing = newId('li');
  const [theirs, none] = await Promise.all(
    [lineItem.id, missing].map((id) => http.call(pathOf(stranger.workspaceId, id), { token: foreign })),
  );
  expect([theirs!.status, withoutTrace(theirs!).replaceAll(lineItem.id, 'ID')]).toEqual([
    ...[404, withoutTrace(none!).replaceAll(missing, 'ID')],
  ]);
  expect((await http.call(pathOf(w.workspaceId, lineItem.id), { token: foreign })).status).toBe(404);
  const token = http.tokenFor(w.actor);
  for (const query of [
    '?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z',
    '?from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z',
    '?since=2026-01-01',
  ]) {
    const { status, json } = await http.call(pathOf(w.workspaceId, lineItem.id, query), { token });
    expect([status, json.code]).toEqual([422, 'validation_failed']);
  }
  expect(questions).toEqual([]);
  isAway = true;
  const away = await http.call(pathOf(w.workspaceId, lineItem.id), { token });
  isAway = false;
  expect([away.status, away.json.code]).toEqual([503, 'temporarily_unavailable']);
});
