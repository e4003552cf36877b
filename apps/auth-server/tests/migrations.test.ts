import { expect, test } from '@jest/globals';
import { startEarlierDatabase } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { listGrants, saveCollaborators } from '../src/grants/grant-table.ts';

const before = (migration: string) => startEarlierDatabase('apps/auth-server/prisma', migration);
const at = '2026-11-20T10:00:00Z';
const insertResource = `insert into resource (id, workspace_id, resource_type, version, lifecycle_state, attributes, digest, operation_id,
  created_at, updated_at) values ($1, $2, $3, 1, 'active', $4, 'd', 'op_1', '${at}', '${at}')`;

test.each(['_collaboration_since', '_collaboration_roles', '_collaborator_invitation'])(
  'a collaborator from before %s keeps access, the role and its time, and may get a second role',
  async (migration) => {
    await using database = await before(migration);
    const { pool } = database;
    const [workspaceId, podcastId] = [newId('ws'), newId('pod')];
    const owner = { name: 'Owner', plan: 'scale', subscription: { state: 'active' } };
    await pool.query(insertResource, [newId('acc'), workspaceId, 'accounts', owner]);
    await pool.query('insert into collaborated_podcast values ($1, $2, 3)', [podcastId, workspaceId]);
    const hasSince = migration !== '_collaboration_since';
    const accounts: Record<string, string> = { 'ada@example.com': newId('acc'), 'ben@example.com': newId('acc') };
    for (const [email, id] of Object.entries(accounts))
      await pool.query(insertResource, [id, newId('ws'), 'accounts', { ...owner, email }]);
    for (const [email, role] of [
      ['ada@example.com', 'editor'],
      ['ben@example.com', 'analyst'],
    ])
      await pool.query(`insert into collaboration values ($1, $2, $3${hasSince ? `, '${at}'` : ''})`, [
        podcastId,
        email,
        role,
      ]);
    await database.upgrade();
    const rolesOf = async (email: string) =>
      (await listGrants(pool, { id: accounts[email]!, email }, new Date())).grants.map(({ roles }) => roles);
    const editor = ['viewer', 'editor', 'producer', 'scheduler', 'analyst'];
    const sorted = async (email: string) => (await rolesOf(email)).map((roles) => roles.toSorted());
    expect(await sorted('ada@example.com')).toEqual([editor.toSorted()]);
    expect(await sorted('ben@example.com')).toEqual([['analyst', 'viewer']]);
    const since = async () =>
      (
        await pool.query<{ since: Date }>(
          `select min(since) as since from collaboration where email = 'ben@example.com'`,
        )
      ).rows[0]!.since;
    const began = await since();
    if (hasSince) expect(began).toEqual(new Date(at));
    const collaborators = ['editor', 'analyst'].map((role) => ({ email: 'ben@example.com', role }));
    await saveCollaborators(pool, {
      ...{ id: podcastId, workspaceId, version: 4, title: 'Harbour Light', at: new Date(), collaborators },
    });
    expect(await sorted('ben@example.com')).toEqual([editor.toSorted()]);
    expect(await since()).toEqual(began);
    expect(await rolesOf('ada@example.com')).toEqual([]);
  },
);

test('operations from before there were reviews and consequences have neither', async () => {
  await using database = await before('_review');
  await database.pool.query(
    `insert into operation values ('op_1', 'ws_1', 'operator', 'account.create', 'succeeded', 'accounts', 'acc_1', 1, 'rcp_1', null, $1, $1)`,
    [at],
  );
  await database.upgrade();
  const { rows } = await database.pool.query('select state, review_task_id, consequences from operation');
  expect(rows).toEqual([{ state: 'succeeded', review_task_id: null, consequences: null }]);
});
