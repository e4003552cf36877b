import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { verifyChain, exportLine } from '@longwave/command-pipeline/receipts';
import { newId } from '@longwave/ids';
import { until } from '@longwave/test-kit';
import { decodeJwt } from 'jose';
import { startAuthServer, type AuthServerUnderTest } from './_support.ts';

let server: AuthServerUnderTest;
beforeAll(async () => {
  server = await startAuthServer();
});
afterAll(async () => server[Symbol.asyncDispose]());

/** The chain of a workspace as management asks for it, page by page. */
async function exportChain(workspaceId: string, limit: number): Promise<string> {
  const { exportChain: page } = server.clients.management.receipts;
  const lines: string[] = [];
  for (;;) {
    const { receipts } = await page({ workspaceId, after: lines.length, limit }, {});
    lines.push(...receipts.map(exportLine));
    if (receipts.length < limit) return lines.join('');
  }
}
const keys = async () =>
  (await server.clients.management.receipts.listReceiptKeys({}, {})).keys.map((key) => ({
    kty: 'OKP',
    crv: 'Ed25519',
    ...key,
  }));

/** A workspace with two receipts. */
async function newAccount(): Promise<string> {
  const workspaceId = newId('ws');
  const { resource } = await server.send(workspaceId, 'account.create', { name: 'Harbour Light', plan: 'grow' });
  const subscription = { state: 'suspended' };
  await server.send(workspaceId, 'account.set_subscription', { subscription }, { subjectId: resource.id });
  return workspaceId;
}

test('a workspace’s chain about accounts and credentials is exported in pages, and verified without the service', async () => {
  const workspaceId = await newAccount();
  const text = await exportChain(workspaceId, 1);
  const found = await verifyChain(text, await keys());
  expect(found).toMatchObject({ ok: true, workspaceId, receipts: text.trimEnd().split('\n').length });
  expect(await exportChain(workspaceId, 1_000)).toBe(text);
  expect(await exportChain(newId('ws'), 1_000)).toBe('');
});

test('one receipt is read by its id in its own workspace, byte for byte as it is exported', async () => {
  const { exportChain: page, getReceipt } = server.clients.management.receipts;
  const workspaceId = await newAccount();
  const { receipts } = await page({ workspaceId, after: 0, limit: 2 }, {});
  for (const { id, jws } of receipts)
    expect(await getReceipt({ workspaceId, id }, {})).toMatchObject({
      ...{ id, jws },
      operationId: decodeJwt(jws)['operation_id'],
    });
  const { id } = receipts[0]!;
  for (const unknown of [
    { workspaceId: newId('ws'), id },
    { workspaceId, id: newId('rcp') },
  ])
    await expect(getReceipt(unknown, {})).rejects.toMatchObject({ code: 'not_found' });
});

test('an hourly checkpoint of the running service proves the chain: receipts that are missing at its end are found', async () => {
  const { proveChain, getCheckpoint } = server.clients.management.receipts;
  const before = await until('the first checkpoint', async () => (await getCheckpoint({}, {})).checkpoint);
  const workspaceId = await newAccount();
  expect((await proveChain({ workspaceId }, {})).proof).toBeUndefined();
  await using restarted = await startAuthServer({
    databaseUrl: server.database.url,
    receiptKeyFile: server.receiptKeyFile,
    now: new Date(server.clock.now.getTime() + 3_600_000),
  });
  const { receipts } = restarted.clients.management;
  const proof = await until('the next checkpoint', async () => (await receipts.proveChain({ workspaceId }, {})).proof);
  expect(proof.checkpoint).not.toBe(before);
  const { workspaceId: workspace_id, leafIndex: leaf_index, ...rest } = proof;
  const document = { ...rest, workspace_id, leaf_index };
  const text = await exportChain(workspaceId, 1_000);
  expect(await verifyChain(text, await keys(), document)).toMatchObject({ ok: true });
  const lines = text.split(/(?<=\n)/);
  const problem = expect.stringContaining(`receipt ${lines.length}: it is missing`);
  expect(await verifyChain(lines.slice(0, -1).join(''), await keys(), document)).toMatchObject({ ok: false, problem });
});

test('nobody but management may ask for receipts', async () => {
  const workspaceId = newId('ws');
  for (const caller of ['gateway', 'operator', 'sink'] as const) {
    const { exportChain: page, getReceipt } = server.clients[caller].receipts;
    for (const asked of [
      page({ workspaceId, after: 0, limit: 1 }, {}),
      getReceipt({ workspaceId, id: newId('rcp') }, {}),
    ])
      await expect(asked).rejects.toMatchObject({ code: 'permission_denied' });
  }
});
