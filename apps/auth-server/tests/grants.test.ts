import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { createPool } from '@longwave/postgres';
import { decideAccess, tryVerifyPrincipal } from '@longwave/principal';
import { until } from '@longwave/test-kit';
import { publishPodcasts, type SaidPodcast } from './_podcasts.ts';
import { digestOf, secretText, startAuthServer, type AuthServerUnderTest } from './_support.ts';

let server: AuthServerUnderTest;
let pool: ReturnType<typeof createPool>;
beforeAll(async () => {
  server = await startAuthServer();
  pool = createPool(server.database.url, 'identity', { name: 'test' });
}, 120_000);
afterAll(async () => {
  await pool.end();
  await server[Symbol.asyncDispose]();
});

interface TestAccount {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly email: string;
  readonly key: string;
}

async function account(plan: string): Promise<TestAccount> {
  const workspaceId = newId('ws');
  const email = `${workspaceId}@example.com`;
  const { resource } = await server.send(workspaceId, 'account.create', { name: 'Studio', email, plan });
  const key = secretText('lw_key_');
  const changes = { account_id: resource.id, name: 'key', kind: 'api_key', secret_digest: digestOf(key) };
  await server.send(workspaceId, 'credential.issue', changes);
  return { workspaceId, accountId: resource.id, email, key };
}

/** What an account may do that accepts every invitation. */
async function principalOf({ key, email, accountId }: TestAccount) {
  await pool.query(
    'update collaborator_invitation set account_id = $1, answered_at = now() where email = $2 and answered_at is null',
    [accountId, email],
  );
  const outcome = await server.verify(key);
  if (outcome?.$case !== 'principal') throw new Error(`refused: ${String(outcome?.value)}`);
  return outcome.value;
}

const addMember = (owner: TestAccount, member: TestAccount, permissions: readonly string[]) =>
  server
    .send(owner.workspaceId, 'membership.add', {
      owner_account_id: owner.accountId,
      member_account_id: member.accountId,
      permissions,
    })
    .then(({ resource }) => resource.id);

/** A revision of a podcast, as management publishes it. */
async function podcastSays(
  podcast: { readonly id: string; readonly workspaceId: string },
  version: number,
  collaborators: readonly object[],
  state = 'published',
): Promise<void> {
  await podcastsSay([{ ...podcast, version, collaborators, state }]);
}

const podcastsSay = (podcasts: readonly SaidPodcast[]) => publishPodcasts(server.redis.url, podcasts);

describe('a member of an organization', () => {
  test.each([
    [[], ['viewer']],
    [['edit'], ['viewer', 'editor']],
    [
      ['encode', 'publish'],
      ['viewer', 'producer', 'scheduler'],
    ],
    [
      ['view_analytics', 'manage_members'],
      ['viewer', 'analyst', 'manager'],
    ],
  ])(
    'with the permissions %j has the roles %j in the owner’s workspace, under its plan',
    async (permissions, roles) => {
      const [owner, member] = [await account('scale'), await account('launch')];
      await addMember(owner, member, permissions);
      const { grants, statement, plan } = await principalOf(member);
      expect(plan?.name).toBe('launch');
      expect(grants).toMatchObject([{ workspaceId: owner.workspaceId, podcastId: '', roles, plan: { name: 'scale' } }]);
      const stated = await tryVerifyPrincipal(statement, [server.principalKey], server.clock.now);
      expect(decideAccess(stated!, { workspaceId: owner.workspaceId, podcastId: undefined }).roles).toEqual(roles);
      expect(decideAccess(stated!, { workspaceId: newId('ws'), podcastId: undefined }).outcome).toBe('unknown');
    },
  );

  test('is one from the next call on until the membership ends, and its permissions may change', async () => {
    const [owner, member] = [await account('scale'), await account('launch')];
    const id = await addMember(owner, member, ['edit']);
    await server.send(owner.workspaceId, 'membership.revise', { permissions: ['publish'] }, { subjectId: id });
    expect((await principalOf(member)).grants).toMatchObject([{ roles: ['viewer', 'scheduler'] }]);
    await server.send(owner.workspaceId, 'membership.end', {}, { subjectId: id });
    expect((await principalOf(member)).grants).toEqual([]);
  });

  test('is added once, never to itself, and only when it exists', async () => {
    const [owner, member] = [await account('scale'), await account('launch')];
    const twice = await Promise.allSettled([addMember(owner, member, []), addMember(owner, member, ['edit'])]);
    expect(twice.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(addMember(owner, owner, [])).rejects.toMatchObject({ code: 'validation_failed' });
    const nobody = { ...member, accountId: newId('acc') };
    await expect(addMember(owner, nobody, [])).rejects.toMatchObject({ code: 'validation_failed' });
    const foreign = { ...owner, workspaceId: member.workspaceId };
    await expect(addMember(foreign, member, [])).rejects.toMatchObject({ code: 'link_not_found' });
  });
});

describe('a collaborator', () => {
  test('has the roles that the podcast gives, on this podcast only, under the plan of its owner', async () => {
    const [owner, guest] = [await account('scale'), await account('launch')];
    const podcast = { id: newId('pod'), workspaceId: owner.workspaceId };
    await podcastSays(podcast, 1, [{ email: guest.email, role: 'editor' }]);
    const { grants, statement } = await until(() => principalOf(guest), {
      holds: (principal) => principal.grants.length > 0,
    });
    const roles = ['viewer', 'editor', 'producer', 'scheduler', 'analyst'];
    expect(grants).toMatchObject([{ ...{ workspaceId: owner.workspaceId, podcastId: podcast.id, roles } }]);
    const stated = await tryVerifyPrincipal(statement, [server.principalKey], server.clock.now);
    expect(decideAccess(stated!, { workspaceId: owner.workspaceId, podcastId: podcast.id }).roles).toEqual(roles);
    expect(decideAccess(stated!, { workspaceId: owner.workspaceId, podcastId: newId('pod') }).outcome).toBe('unknown');
    expect(decideAccess(stated!, { workspaceId: owner.workspaceId, podcastId: undefined }).outcome).toBe('unknown');

    await podcastSays(podcast, 2, [{ email: guest.email, role: 'analyst' }]);
    await until(() => principalOf(guest), {
      holds: (principal) => principal.grants[0]?.roles.join() === 'viewer,analyst',
    });
  });

  test('holds the roles of all its invitations in one grant, and loses only those of the one that was taken back', async () => {
    const [owner, guest] = [await account('scale'), await account('launch')];
    const podcast = { id: newId('pod'), workspaceId: owner.workspaceId };
    const as = (role: string) => ({ email: guest.email, role });
    const rolesAre = (roles: string) =>
      until(() => principalOf(guest), {
        holds: ({ grants }) => grants.map((grant) => grant.roles.join()).join(';') === roles,
      });
    await podcastSays(podcast, 1, [as('editor'), as('analyst')]);
    await rolesAre('viewer,analyst,editor,producer,scheduler');
    await podcastSays(podcast, 2, [as('analyst')]);
    await rolesAre('viewer,analyst');
    await podcastSays(podcast, 3, [as('analyst'), as('editor')]);
    await rolesAre('viewer,analyst,editor,producer,scheduler');
    await podcastSays(podcast, 4, []);
    await rolesAre('');
  });

  test('who is also a member of the organization sees analytics only by the permission, or by an invitation as analyst', async () => {
    const [owner, member] = [await account('scale'), await account('launch')];
    const podcast = { id: newId('pod'), workspaceId: owner.workspaceId };
    const membership = await addMember(owner, member, ['edit']);
    await podcastSays(podcast, 1, [{ email: member.email, role: 'editor' }]);
    const { grants } = await until(() => principalOf(member), {
      holds: (principal) => principal.grants.length === 2,
    });
    expect(grants.map(({ roles }) => roles)).toEqual([
      ['viewer', 'editor'],
      ['viewer', 'editor', 'producer', 'scheduler'],
    ]);
    const invited = ['editor', 'analyst'].map((role) => ({ email: member.email, role }));
    await podcastSays(podcast, 2, invited);
    await until(() => principalOf(member), {
      holds: (principal) => principal.grants[1]?.roles.includes('analyst') === true,
    });
    await podcastSays(podcast, 3, invited.slice(0, 1));
    await until(() => principalOf(member), {
      holds: (principal) => principal.grants[1]?.roles.includes('analyst') === false,
    });
    await server.send(owner.workspaceId, 'membership.end', {}, { subjectId: membership });
    expect((await principalOf(member)).grants).toMatchObject([
      { podcastId: podcast.id, roles: ['viewer', 'editor', 'producer', 'scheduler', 'analyst'] },
    ]);
  });

  test('ends when it is removed or the podcast is archived, and an old event changes nothing', async () => {
    const [owner, guest] = [await account('scale'), await account('launch')];
    const podcast = { id: newId('pod'), workspaceId: owner.workspaceId };
    const other = { id: newId('pod'), workspaceId: owner.workspaceId };
    await podcastSays(podcast, 5, [{ email: guest.email, role: 'analyst' }]);
    await until(() => principalOf(guest), {
      holds: (principal) => principal.grants.length === 1,
    });
    await podcastSays(podcast, 4, [{ email: guest.email, role: 'editor' }]);
    await podcastSays(other, 1, [{ email: guest.email, role: 'analyst' }]);
    const { grants } = await until(() => principalOf(guest), {
      holds: (principal) => principal.grants.length === 2,
    });
    expect(grants.map(({ roles }) => roles)).toEqual([
      ['viewer', 'analyst'],
      ['viewer', 'analyst'],
    ]);
    await podcastSays(podcast, 6, [{ email: guest.email, role: 'analyst' }], 'archived');
    await podcastSays(other, 2, []);
    await until(() => principalOf(guest), {
      holds: (principal) => principal.grants.length === 0,
    });
  });
});

describe('an owner whose subscription is', () => {
  const subscribe = ({ workspaceId, accountId }: TestAccount, state: string) =>
    server.send(workspaceId, 'account.set_subscription', { subscription: { state } }, { subjectId: accountId });

  test.each(['canceled', 'suspended'])(
    '%s has neither members nor collaborators until it is active again',
    async (state) => {
      const [owner, guest] = [await account('scale'), await account('launch')];
      const podcast = { id: newId('pod'), workspaceId: owner.workspaceId };
      await addMember(owner, guest, ['edit']);
      await podcastSays(podcast, 1, [{ email: guest.email, role: 'editor' }]);
      const both = (principal: { readonly grants: readonly object[] }) => principal.grants.length === 2;
      await until(() => principalOf(guest), { holds: both });
      await subscribe(owner, state);
      expect((await principalOf(guest)).grants).toEqual([]);
      await subscribe(owner, 'past_due');
      expect((await principalOf(guest)).grants).toHaveLength(2);
    },
  );

  test.each(['canceled', 'suspended'])("%s lets no member's legacy token in", async (state) => {
    const [owner, member] = [await account('scale'), await account('launch')];
    await addMember(owner, member, ['edit']);
    const token = secretText('svc_pat_');
    const changes = { account_id: member.accountId, name: 'old', kind: 'legacy_token', secret_digest: digestOf(token) };
    await server.send(member.workspaceId, 'credential.issue', changes);
    expect((await server.verify(token))?.$case).toBe('principal');
    await subscribe(owner, state);
    expect(await server.verify(token)).toEqual({ $case: 'refusal', value: 'REFUSAL_API_ACCESS_NOT_AVAILABLE' });
  });
});

describe('many invitations', () => {
  const minute = (nth: number) => new Date(Date.UTC(2026, 0, 1, 0, nth)).toISOString();
  const invitations = (host: TestAccount, count: number, guest: TestAccount, from: number): SaidPodcast[] =>
    Array.from({ length: count }, (_, index) => ({
      id: newId('pod'),
      workspaceId: host.workspaceId,
      version: 1,
      collaborators: [{ email: guest.email, role: 'analyst' }],
      at: minute(from + index),
    }));

  test('of one stranger never crowd out another one, whatever the ids of its podcasts; the cut is logged without addresses', async () => {
    const [stranger, friend, guest] = [await account('launch'), await account('scale'), await account('launch')];
    const flood = invitations(stranger, 210, guest, 0);
    const [real] = invitations(friend, 1, guest, 1000);
    await podcastsSay([...flood, real!]);
    const cuts = () => server.logLines.filter((line) => line.includes('grants.cut') && line.includes(guest.accountId));
    const { grants } = await until(() => principalOf(guest), {
      holds: () => cuts().at(-1)?.includes('"given":51,"left_out":160') === true,
    });
    expect(grants.map(({ podcastId }) => podcastId)).toEqual([...flood.slice(0, 50).map(({ id }) => id), real!.id]);
    expect(cuts().join()).not.toContain('@');
  });

  test('count from when they began: the oldest stay, and another or a further role or version makes none younger', async () => {
    const [hosts, guest] = [
      await Promise.all(Array.from({ length: 5 }, () => account('launch'))),
      await account('launch'),
    ];
    const later = hosts.flatMap((host, index) => invitations(host, 50, guest, 10 + index * 100));
    const [first] = invitations(hosts[0]!, 1, guest, 0);
    await podcastsSay([...later.toReversed(), first!]);
    const isFull = (principal: { readonly grants: readonly { readonly podcastId: string }[] }) =>
      principal.grants.length === 200 && principal.grants[0]?.podcastId === first!.id;
    await until(() => principalOf(guest), { holds: isFull });
    const again = { ...first!, version: 2, at: minute(5000), collaborators: [{ email: guest.email, role: 'editor' }] };
    await podcastsSay([again]);
    const { grants } = await until(() => principalOf(guest), {
      holds: (principal) => principal.grants.some(({ roles }) => roles.includes('editor')),
    });
    expect(grants[0]).toMatchObject({ podcastId: first!.id });
    expect(grants).toHaveLength(200);
    const both = ['analyst', 'editor'].map((role) => ({ email: guest.email, role }));
    await podcastsSay([{ ...again, version: 3, collaborators: both }]);
    const twice = await until(() => principalOf(guest), {
      holds: (principal) => principal.grants.some(({ roles }) => roles.join().startsWith('viewer,analyst,editor')),
    });
    expect(twice.grants[0]).toMatchObject({ podcastId: first!.id });
    expect(twice.grants).toHaveLength(200);
  });
});

describe('credentials', () => {
  test('an MCP personal token is unknown at REST; a blocked client is blocked until it is unblocked', async () => {
    const { workspaceId, accountId } = await account('scale');
    const issue = async (kind: string, text: string) => {
      const changes = { account_id: accountId, name: kind, kind, secret_digest: digestOf(text) };
      return (await server.send(workspaceId, 'credential.issue', changes)).resource.id;
    };
    const personal = secretText('svc_mcp_');
    await issue('api_key', personal);
    expect(await server.verify(personal)).toEqual({ $case: 'refusal', value: 'REFUSAL_UNKNOWN_USER' });

    const key = secretText('lw_key_');
    const id = await issue('api_key', key);
    await server.send(workspaceId, 'credential.block', {}, { subjectId: id });
    expect(await server.verify(key)).toEqual({ $case: 'refusal', value: 'REFUSAL_CLIENT_BLOCKED' });
    await server.send(workspaceId, 'credential.unblock', {}, { subjectId: id });
    expect((await server.verify(key))?.$case).toBe('principal');
  });

  test('an e-mail address belongs to one account, whatever its case, even when two are made at once', async () => {
    const create = (email: string) => server.send(newId('ws'), 'account.create', { name: 'A', email, plan: 'grow' });
    const twice = await Promise.allSettled([create('Ada@Example.com'), create('ada@example.COM')]);
    expect(twice.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(create('ada@example.com')).rejects.toMatchObject({ code: 'value_taken' });
  });

  test('the operator reads what it changed, by id alone; no other caller reads identity resources', async () => {
    const { workspaceId, accountId } = await account('grow');
    const request = { workspaceId: '', resourceType: 'accounts', resourceId: accountId };
    const { resourceJson } = await server.clients.operator.resources.getResource(request, {});
    expect(JSON.parse(resourceJson)).toMatchObject({ id: accountId, workspace_id: workspaceId });
    await expect(server.clients.gateway.resources.getResource(request, {})).rejects.toMatchObject({
      code: 'permission_denied',
    });
  });
});
