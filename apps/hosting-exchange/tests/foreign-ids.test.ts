import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rowsDigestOf, type SchemaName } from '@longwave/exchange-messages';
import { newId } from '@longwave/ids';
import {
  aliasBody,
  capabilityBody,
  episodeBody,
  startExchange,
  writer,
  type Exchange,
  type Platform,
  type Sent,
} from './_exchange.ts';
import { project } from './_projections.ts';

type Body = Record<string, unknown>;

let exchange: Exchange;
beforeAll(async () => {
  exchange = await startExchange();
});
afterAll(() => exchange[Symbol.asyncDispose]());

/** An answer whole, but for the trace. */
const shown = ({ status, text, body, headers }: Sent) => ({
  ...{ status, type: headers.get('content-type') },
  text: text.replaceAll(String(body['trace_id']), '…'),
});

/** A platform that has an episode and a surface, so that the id in question alone is wrong. */
async function prepared(workspaceId?: string, sourceId = 'ep-1', surfaceId = 'app') {
  const host = await exchange.platform(workspaceId);
  const one = writer(host, `show:${sourceId}`);
  const sent = await exchange.submit(host, [
    one.write('content-snapshot/1', sourceId, 1, { episode: episodeBody() }),
    one.write('surface-capability/1', surfaceId, 1, capabilityBody(surfaceId)),
  ]);
  expect(sent.status).toBe(202);
  return { host, one };
}

const evidence = (
  rows: readonly { readonly source_id: string; readonly at: string; readonly downloads: number }[],
) => ({
  ...{ source_label: 'northern', platform: 'app', kind: 'delivery', granularity: 'day', revision: 1 },
  period: { start: '2026-11-20T00:00:00Z', end: '2026-11-22T00:00:00Z' },
  ...{ method_note: 'As the IAB says.', finality: 'final', rows, rows_digest: rowsDigestOf(rows) },
});
const row = (sourceId: string) => ({ source_id: sourceId, at: '2026-11-20T00:00:00Z', downloads: 12 });

interface Reference {
  readonly what: string;
  readonly path: string;
  readonly schema: SchemaName;
  readonly source: (host: Platform) => string;
  readonly body: (id: string, host: Platform) => Body;
  /** An id that another platform has. */
  readonly theirs: (other: Platform) => string;
  readonly nobodys: () => string;
}

const references: readonly Reference[] = [
  {
    what: 'the target of an alias',
    path: '/messages/0/payload/body/target/source_id',
    schema: 'delivery-alias/1',
    source: () => 'a1',
    body: (id) => aliasBody('a1', { target: { type: 'episode', source_id: id } }),
    theirs: () => 'ep-theirs',
    nobodys: () => 'ep-nobody',
  },
  {
    what: 'the surface of an alias',
    path: '/messages/0/payload/body/route_policy/surface_id',
    schema: 'delivery-alias/1',
    source: () => 'a1',
    body: (id) =>
      aliasBody('a1', {
        route_policy: { surface_id: id, route: 'platform_controlled', when_unavailable: 'gone' },
      }),
    theirs: () => 'app-theirs',
    nobodys: () => 'app-nobody',
  },
  {
    what: 'the second row of a report',
    path: '/messages/0/payload/body/rows/1/source_id',
    schema: 'platform-evidence/1',
    source: () => 'november',
    body: (id) => evidence([row('ep-1'), row(id)]),
    theirs: () => 'ep-theirs',
    nobodys: () => 'ep-nobody',
  },
  {
    what: 'the key that a rotation retires',
    path: '/messages/0/payload/body/retire_kid',
    schema: 'authority-rotation/1',
    source: ({ authorityId }) => authorityId,
    body: (id, host) => ({
      ...{ retire_kid: id, successor_kid: host.key.id, overlap_until: '2026-12-01T00:00:00Z', cause: 'planned' },
    }),
    theirs: (other) => other.key.id,
    nobodys: () => newId('key'),
  },
];

describe.each(['another workspace', 'another authority of the workspace'])('what %s has', (owner) => {
  test.each(references)('as $what is refused with the bytes of what nobody has', async (reference) => {
    const { host, one } = await prepared();
    const { host: other } = await prepared(
      owner === 'another workspace' ? undefined : host.workspaceId,
      'ep-theirs',
      'app-theirs',
    );
    const head = (await exchange.request(host, 'GET', `/workspaces/${host.workspaceId}/streams/show:ep-1`)).body[
      'head'
    ];
    const { digest } = head as { digest: string };
    const { schema, source, body } = reference;
    const answers: unknown[] = [];
    for (const id of [reference.theirs(other), reference.nobodys()]) {
      one.rewind({ sequence: 2, prev: digest });
      const sent = await exchange.submit(host, [one.write(schema, source(host), 1, body(id, host))]);
      expect(sent.body).toMatchObject({ code: 'cross_workspace_identity', errors: [{ path: reference.path }] });
      answers.push(shown(sent));
    }
    expect(answers[0]).toMatchObject({ status: 403 });
    expect(answers[0]).toEqual(answers[1]);
  });

  test('as the surface of a resolution is refused with the bytes of what nobody has', async () => {
    const host = await exchange.platform();
    const other = await exchange.platform(owner === 'another workspace' ? undefined : host.workspaceId);
    await project(exchange, host, { snapshots: [{ version: 1, state: 'ready' }], alias: null });
    await project(exchange, other, { surface: { id: 'app-theirs' }, alias: null });
    const resolve = (surfaceId: string) =>
      exchange.request(host, 'POST', `/workspaces/${host.workspaceId}/delivery-resolutions`, {
        body: { source: { source_id: 'ep-1' }, surface_id: surfaceId },
      });
    expect((await resolve('app')).status).toBe(200);
    const [theirs, nobodys] = [await resolve('app-theirs'), await resolve('app-nobody')];
    expect(theirs.body).toMatchObject({ code: 'cross_workspace_identity', errors: [{ path: '/surface_id' }] });
    expect(shown(theirs)).toEqual(shown(nobodys));
  });
});
