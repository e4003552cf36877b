import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { DomainEvent } from '@longwave/events';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { rpcService, serveRpc } from '@longwave/rpc';
import { ExchangeServiceService, type AcknowledgeIntentRequest } from '@longwave/rpc/exchange';
import { type FaultProxy, sha256, startFaultProxy, until } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { noteApplied } from '../src/projection/intent-table.ts';
import { apply, next, ofWorkspace } from './_apply.ts';
import { askAt, newListener } from './_ask.ts';
import { aliasOf, hosted, pathOf, snapshotOf, type Hosted } from './_hosted.ts';
import { audio, eventOf, openBench, publishEvents, workspaceId, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
let proxy: FaultProxy;
let refuse = false;
const acknowledged: AcknowledgeIntentRequest[] = [];
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  bench = await openBench();
  stack.defer(() => bench.stop());
  const server = await serveRpc({
    listen: '127.0.0.1:0',
    tls: bench.tlsOf('hosting-exchange'),
    services: [
      rpcService(
        ExchangeServiceService,
        { acknowledgeIntent: ['public-delivery'], holdStream: [], reopenStream: [] },
        {
          acknowledgeIntent: async (request) => {
            if (refuse) throw new Problem('temporarily_unavailable');
            acknowledged.push(request);
            return {};
          },
          holdStream: async () => ({}),
          reopenStream: async () => ({}),
        },
      ),
    ],
    onError: () => undefined,
  });
  stack.defer(() => server.close(100));
  proxy = stack.use(await startFaultProxy());
  proxy.aimAt({ host: '127.0.0.1', port: server.port });
  app = stack.use(await bench.start({ HOSTING_EXCHANGE_ADDRESS: `127.0.0.1:${proxy.port}` }));
});
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  acknowledged.length = 0;
  refuse = false;
});

const intentOf = (authorityId: string, actions: readonly object[]) =>
  eventOf('serving_intents', newId('sin'), 1, 'published', {
    ...{ authority_id: authorityId, plan_digest: 'd'.repeat(64), actions, supersedes: 0 },
    effective_at: '2026-11-25T10:00:00Z',
  });
const actionOf = (content: Buffer, sourceId: string) => ({
  ...{ alias: 'alias-1', source_id: sourceId, source_version: 1, presentation: 'stitched' },
  rendition_sha256: sha256(content),
});
const nothingAt = (sourceId: string) => ({ alias: 'alias-1', source_id: sourceId, presentation: 'none' });
/** Waits until an intent was looked at and was not in force. */
async function waits(intent: DomainEvent): Promise<void> {
  await until(async () => {
    const { rows } = await bench.pool.query<{ due: boolean }>(
      'select due_at > clock_timestamp() as due from serving_intent where id = $1',
      [intent.subject.id],
    );
    return rows[0]!.due;
  });
  const other = intentOf(newId('agr'), []);
  await apply(bench, other);
  await until(() => versionsOf(other).length > 0);
  expect(versionsOf(intent)).toEqual([]);
}
/** Has an intent that was not in force looked at again now, and waits until it is acknowledged. */
async function isAcknowledgedNow(intent: DomainEvent): Promise<void> {
  await bench.pool.query('update serving_intent set due_at = clock_timestamp() where id = $1', [intent.subject.id]);
  await until(() => versionsOf(intent).length > 0);
}
const versionsOf = ({ subject: { id } }: DomainEvent) =>
  acknowledged.filter(({ intentId }) => intentId === id).map(({ intentVersion }) => intentVersion);

test('an intent is acknowledged once, with its version and its plan, after it came by the bus', async () => {
  const { authorityId, sourceId, content } = await hosted(bench);
  const intent = intentOf(authorityId, [actionOf(content, sourceId)]);
  await publishEvents(bench.bus, [intent, intent]);
  const [first] = await until(() => (versionsOf(intent).length > 0 ? acknowledged : undefined));
  expect(first).toMatchObject({
    ...{ workspaceId, intentId: intent.subject.id, intentVersion: 1, planDigest: 'd'.repeat(64) },
    ...{ status: 'applied', detailCode: '' },
  });
  expect(Math.abs(Number(first!.appliedAtMs) - Date.now())).toBeLessThan(60_000);
  await apply(bench, next(intent, {}));
  await until(() => versionsOf(intent).includes(2));
  expect(versionsOf(intent)).toEqual([1, 2]);
});

test('an intent is not acknowledged before what it says serves: the events of its audio may come later', async () => {
  const { authorityId, sourceId, content, events } = await hosted(bench);
  await apply(bench, next(events.episode, {}, { state: 'unpublished' }));
  const intent = intentOf(authorityId, [actionOf(content, sourceId)]);
  await apply(bench, intent);
  await waits(intent);
  await apply(bench, next(events.episode, {}, { state: 'published', by: 2 }));
  await until(() => versionsOf(intent).length > 0);
});

test('that nothing serves any more is acknowledged when it is so, and not for an alias that is not known', async () => {
  const { authorityId, sourceId, events, snapshot } = await hosted(bench);
  const ended = intentOf(authorityId, [nothingAt(sourceId)]);
  const early = intentOf(newId('agr'), [nothingAt(sourceId)]);
  const other = intentOf(newId('agr'), []);
  await apply(bench, ended, early, other);
  await until(() => versionsOf(other).length > 0);
  expect([versionsOf(ended), versionsOf(early)]).toEqual([[], []]);
  await apply(bench, next(snapshot, {}, { state: 'revoked' }), next(events.episode, {}, { state: 'unpublished' }));
  await until(() => versionsOf(ended).length > 0);
  expect(versionsOf(early)).toEqual([]);
});

test.each([
  ['clean', 'platform_controlled', { presentation: 'stitched' }],
  ['platform_controlled', 'clean', { presentation: 'clean' }],
  ['clean', 'source', { presentation: 'source', rendition_sha256: undefined }],
])(
  'an intent waits for the event of its alias, which leads from route "%s" to "%s" of the same audio',
  async (from, to, says) => {
    const { authorityId, sourceId, content, alias } = await hosted(bench, { route: from });
    const intent = intentOf(authorityId, [{ ...actionOf(content, sourceId), ...says }]);
    await apply(bench, intent);
    await waits(intent);
    await apply(bench, next(alias, { route_policy: { surface_id: 'apps', route: to, when_unavailable: 'gone' } }));
    await isAcknowledgedNow(intent);
  },
);

test('an intent waits for the event of its halt, and for its release; a halt of other ads changes nothing', async () => {
  const [one, two] = [await hosted(bench), await hosted(bench)];
  const haltOf = (scope: object) =>
    eventOf('serving_halts', newId('hlt'), 1, 'active', { scope, cause: 'A wrong ad.' });
  const halt = haltOf({ kind: 'show', podcast_id: one.podcastId });
  const halted = intentOf(one.authorityId, [{ ...actionOf(one.content, one.sourceId), halt: halt.subject.id }]);
  const second = haltOf({ kind: 'show', podcast_id: two.podcastId });
  const released = intentOf(two.authorityId, [actionOf(two.content, two.sourceId)]);
  await apply(bench, haltOf({ kind: 'creative', creative_id: newId('cre') }), second, halted, released);
  await waits(halted);
  await waits(released);
  await apply(bench, halt, next(second, {}, { state: 'released' }));
  await isAcknowledgedNow(halted);
  await isAcknowledgedNow(released);
});

test('an intent waits for the event of the break plan that it names, and for the end of one that it does not name', async () => {
  const { authorityId, sourceId, content, podcastId } = await hosted(bench);
  const unit = eventOf('inventory_units', newId('inv'), 1, 'active', {
    kind: 'show',
    source_ref: { podcast_id: podcastId },
  });
  const plan = eventOf('break_plans', newId('brk'), 1, 'draft', { inventory_unit_ids: [unit.subject.id], breaks: [] });
  const published = next(plan, {}, { state: 'published' });
  const action = actionOf(content, sourceId);
  const named = intentOf(authorityId, [{ ...action, break_plan: { id: plan.subject.id, version: 2 } }]);
  await apply(bench, named);
  await waits(named);
  await apply(bench, published, plan, unit);
  await isAcknowledgedNow(named);
  const unnamed = intentOf(authorityId, [action]);
  await apply(bench, unnamed);
  await waits(unnamed);
  await apply(bench, next(published, {}, { state: 'retired' }));
  await isAcknowledgedNow(unnamed);
});

/** What an address answers to somebody who has not begun. */
async function answerAt(path: string, withoutAds: boolean) {
  const { status, headers } = await askAt(() => app.port)(path, newListener());
  if (status === 404) return { presentation: 'none' };
  const location = String(headers.location);
  const [, version] = /^https:\/\/host\.example\/master-(\d)\.mp3$/.exec(location) ?? [];
  if (version !== undefined) return { presentation: 'source', source_version: Number(version) };
  const presentation = location.includes('/delivery/v1/a/') || withoutAds ? 'clean' : 'stitched';
  return { presentation, source_version: 1, rendition_sha256: sha256(shared) };
}
const shared = audio(20);
const ended = { until: '2026-11-20T00:00:00Z' };

test.each<
  readonly [string, { readonly rights?: object; readonly ads?: 'none' }, (of: Hosted) => readonly DomainEvent[]]
>([
  ['that serves', {}, () => []],
  ['without ads', { ads: 'none' }, () => []],
  ['that is hidden', {}, ({ events }) => [next(events.episode, {}, { state: 'unpublished' })]],
  ['of a hidden podcast', {}, ({ events }) => [next(events.podcast, {}, { state: 'unpublished' })]],
  ['of an archived podcast', { rights: ended }, ({ events }) => [next(events.podcast, {}, { state: 'archived' })]],
  [
    'that is not encoded',
    {},
    ({ snapshot, events }) => [
      next(snapshot, { episode_id: undefined, rendition: undefined }, { state: 'failed' }),
      next(events.episode, { snapshot_id: undefined }, { state: 'draft' }),
    ],
  ],
  ['whose rights have ended', { rights: ended }, () => []],
  [
    'that has lapsed before a newer version',
    { rights: ended },
    (of) => [
      next(of.snapshot, {}, { state: 'lapsed' }),
      next(of.events.episode, {}, { state: 'unpublished' }),
      snapshotOf({ ...of, version: 2 }, 'received'),
    ],
  ],
  [
    'that was revoked',
    {},
    (of) => [next(of.snapshot, {}, { state: 'revoked' }), next(of.events.episode, {}, { state: 'unpublished' })],
  ],
  [
    'that was revoked after its rights, before a newer version,',
    { rights: ended },
    (of) => [
      next(of.snapshot, {}, { state: 'revoked' }),
      next(of.events.episode, {}, { state: 'unpublished' }),
      snapshotOf({ ...of, version: 2 }, 'received'),
    ],
  ],
])(
  'of an episode %s the intent is in force that says what its addresses answer, and no other',
  async (_what, { rights, ads }, eventsOf) => {
    const of = await hosted(bench, {}, { content: shared, ...(rights && { rights: { ...rights } }), episode: { ads } });
    await apply(bench, ...eventsOf(of));
    const wrong: unknown[] = [];
    for (const state of ['active', 'paused'])
      for (const route of ['platform_controlled', 'ad_free', 'clean', 'source'])
        for (const when_unavailable of ['source', 'gone']) {
          const alias = next(aliasOf(of, { state, route, when_unavailable }), {
            alias: `${state}-${route}-${when_unavailable}`.replaceAll('_', '-'),
          });
          await apply(bench, alias);
          const answer = await answerAt(pathOf(alias), ads === 'none');
          const said = [
            answer,
            ...['stitched', 'clean', 'source', 'none'].map((presentation) => ({
              ...actionOf(shared, of.sourceId),
              ...{ presentation, source_version: presentation === 'none' ? undefined : 1 },
              rendition_sha256: ['stitched', 'clean'].includes(presentation) ? sha256(shared) : undefined,
            })),
          ];
          for (const [index, says] of said.entries()) {
            const intent = intentOf(of.authorityId, [
              { ...says, alias: alias.after.attributes['alias'], source_id: of.sourceId },
            ]);
            await apply(bench, intent);
            // The app may look at it at the same time.
            await noteApplied(bench.pool, { id: intent.subject.id, version: 1 }, bench.now());
            const { rows } = await bench.pool.query<{ applied: boolean }>(
              `delete from serving_intent where id = $1 returning applied_at is not null as applied`,
              [intent.subject.id],
            );
            const isSame =
              index === 0 ||
              (says.presentation === answer.presentation && says.source_version === answer.source_version);
            if (rows[0]!.applied !== isSame) wrong.push({ alias: alias.after.attributes['alias'], answer, says });
          }
        }
    expect(wrong).toEqual([]);
  },
);

test('while hosting-exchange is away, listeners are served as always; then the newest version alone is acknowledged', async () => {
  const { authorityId, sourceId, content, path } = await hosted(bench);
  const intent = intentOf(authorityId, [actionOf(content, sourceId)]);
  await proxy.cut('refused');
  await apply(bench, intent);
  await until(() => bench.logLines.some((line) => line.includes('intent.acknowledgement_failed')));
  await apply(bench, next(intent, {}, { by: 2 }), next(intent, {}));
  expect((await askAt(() => app.port)(path, newListener())).status).toBe(302);
  await proxy.heal();
  await until(() => versionsOf(intent).length > 0, { timeoutMs: 30_000 });
  expect(versionsOf(intent)).toEqual([3]);
});

test('an acknowledgement that is refused is sent again', async () => {
  refuse = true;
  const intent = intentOf(newId('agr'), []);
  const seen = bench.logLines.length;
  await apply(bench, ofWorkspace(intent, newId('ws')));
  await until(() => bench.logLines.slice(seen).some((line) => line.includes('intent.acknowledgement_failed')));
  refuse = false;
  await until(() => versionsOf(intent).length > 0, { timeoutMs: 30_000 });
});
