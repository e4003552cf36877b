import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createEventBus } from '@longwave/event-bus';
import { domainEventSchema, topics } from '@longwave/events';
import { newId } from '@longwave/ids';
import { tryVerifyPrincipal } from '@longwave/principal';
import { Api, Carrier } from '@longwave/rpc/credential';
import { digestOf, secretText, startAuthServer, type AuthServerUnderTest } from './_support.ts';

let server: AuthServerUnderTest;
beforeAll(async () => {
  server = await startAuthServer();
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

async function openAccount(plan: string, subscription?: object) {
  const workspaceId = newId('ws');
  const { resource } = await server.send(workspaceId, 'account.create', {
    name: 'Studio',
    plan,
    ...(subscription && { subscription }),
  });
  return { workspaceId, accountId: resource.id };
}

async function issue(
  account: { workspaceId: string; accountId: string },
  kind: 'api_key' | 'legacy_token' | 'browser_session',
  scope = 'read_write',
) {
  const text = secretText(kind === 'api_key' ? 'lw_key_' : 'svc_pat_');
  const changes = { account_id: account.accountId, name: 'CI', kind, scope, secret_digest: digestOf(text) };
  const { resource } = await server.send(account.workspaceId, 'credential.issue', changes);
  return { text, credentialId: resource.id };
}

async function principalOf(text: string, carrier: Carrier = Carrier.HEADER) {
  const outcome = await server.verify(text, Api.REST, carrier);
  if (outcome?.$case !== 'principal') throw new Error(`refused: ${String(outcome?.value)}`);
  return outcome.value;
}

const refusalOf = async (text: string) => {
  const outcome = await server.verify(text);
  return outcome?.$case === 'refusal' ? outcome.value : undefined;
};

describe('verifying', () => {
  test('an API key becomes a principal with its plan and a statement that other services accept for a minute', async () => {
    const account = await openAccount('grow');
    const { text, credentialId } = await issue(account, 'api_key');
    const { statement, ...principal } = await principalOf(text);
    expect(principal).toEqual({
      accountId: account.accountId,
      workspaceId: account.workspaceId,
      roles: ['owner', 'publisher', 'trafficker', 'sales', 'admin'],
      credentialId,
      clientId: credentialId,
      credentialKind: 'api_key',
      readOnly: false,
      userId: '',
      scopes: [],
      grantId: '',
      purposes: [],
      grants: [],
      plan: {
        name: 'grow',
        includesAnalytics: true,
        historyDays: 90,
        encodingMsPerMonth: 72_000_000n,
        requestsPerMinute: 120,
        uploadUrlsPerMinute: 480,
      },
    });
    const stated = await tryVerifyPrincipal(statement, [server.principalKey], server.clock.now);
    expect(stated).toMatchObject({ workspace_id: account.workspaceId, credential_id: credentialId, read_only: false });
    const later = new Date(server.clock.now.getTime() + 61_000);
    expect(await tryVerifyPrincipal(statement, [server.principalKey], later)).toBeUndefined();
  });

  test('the authenticated client stays the same when a credential is rotated, and differs between clients', async () => {
    const account = await openAccount('scale');
    const clientOf = async ({ text }: { readonly text: string }, carrier: Carrier = Carrier.HEADER) => {
      const { clientId, statement } = await principalOf(text, carrier);
      const stated = await tryVerifyPrincipal(statement, [server.principalKey], server.clock.now);
      expect(stated?.client_id).toBe(clientId);
      return clientId;
    };
    const key = await issue(account, 'api_key');
    const slot = await clientOf(key);
    await server.send(account.workspaceId, 'credential.revoke', {}, { subjectId: key.credentialId });
    expect(await clientOf(await issue(account, 'api_key'))).toBe(slot);
    const session = await clientOf(await issue(account, 'browser_session'), Carrier.COOKIE);
    expect(await clientOf(await issue(account, 'browser_session'), Carrier.COOKIE)).toBe(session);
    const other = await openAccount('scale');
    const clients = [
      slot,
      session,
      await clientOf(await issue(account, 'legacy_token')),
      await clientOf(await issue(account, 'legacy_token')),
      await clientOf(await issue(other, 'api_key')),
    ];
    expect(new Set(clients).size).toBe(clients.length);
  });

  test('the unlimited plan carries no history and no encoding limit', async () => {
    const { text } = await issue(await openAccount('network'), 'api_key');
    const { plan } = await principalOf(text);
    expect(plan).toMatchObject({ historyDays: undefined, encodingMsPerMonth: undefined });
  });

  test('a legacy token with scope read is read-only and has the lower limits of legacy tokens', async () => {
    const { text } = await issue(await openAccount('scale'), 'legacy_token', 'read');
    expect(await principalOf(text)).toMatchObject({
      readOnly: true,
      credentialKind: 'legacy_token',
      plan: { requestsPerMinute: 120, uploadUrlsPerMinute: 120 },
    });
  });

  test('an API key with scope read is read-only, in what the gateway reads and in the statement', async () => {
    const { text } = await issue(await openAccount('scale'), 'api_key', 'read');
    const { readOnly, statement } = await principalOf(text);
    expect(readOnly).toBe(true);
    expect(await tryVerifyPrincipal(statement, [server.principalKey], server.clock.now)).toMatchObject({
      credential_kind: 'api_key',
      read_only: true,
    });
  });

  test.each(['', 'nonsense', 'lw_key_', `svc_mcp_${'a'.repeat(43)}`, secretText('lw_key_')])(
    'the unknown text "%s" is an unknown user',
    async (text) => expect(await refusalOf(text)).toBe('REFUSAL_UNKNOWN_USER'),
  );

  test('a legacy token needs a plan with API access, and gets it at once when the plan changes', async () => {
    const account = await openAccount('grow');
    const { text } = await issue(account, 'legacy_token');
    expect(await refusalOf(text)).toBe('REFUSAL_API_ACCESS_NOT_AVAILABLE');
    await server.send(account.workspaceId, 'account.set_plan', { plan: 'scale' }, { subjectId: account.accountId });
    expect(await refusalOf(text)).toBeUndefined();
  });

  test('a suspended subscription refuses every credential', async () => {
    const { text } = await issue(await openAccount('scale', { state: 'suspended' }), 'api_key');
    expect(await refusalOf(text)).toBe('REFUSAL_SUSPENDED_SUBSCRIPTION');
  });

  test('a revoked credential is refused from the next call on', async () => {
    const account = await openAccount('scale');
    const { text, credentialId } = await issue(account, 'api_key');
    expect(await refusalOf(text)).toBeUndefined();
    await server.send(account.workspaceId, 'credential.revoke', {}, { subjectId: credentialId });
    expect(await refusalOf(text)).toBe('REFUSAL_UNKNOWN_USER');
  });

  test('the text of a credential is neither stored nor logged', async () => {
    const { text } = await issue(await openAccount('scale'), 'api_key');
    await server.verify(text);
    expect(server.logLines.join('\n')).not.toContain(text);
  });
});

describe('identity commands', () => {
  test('a retry with the same key answers the first operation; another payload under it is a conflict', async () => {
    const workspaceId = newId('ws');
    const first = await server.send(workspaceId, 'account.create', { name: 'A', plan: 'grow' }, { key: 'signup-1' });
    const again = await server.send(workspaceId, 'account.create', { name: 'A', plan: 'grow' }, { key: 'signup-1' });
    expect([again.operationJson, again.replayed, first.replayed]).toEqual([first.operationJson, true, false]);
    await expect(
      server.send(workspaceId, 'account.create', { name: 'B', plan: 'grow' }, { key: 'signup-1' }),
    ).rejects.toMatchObject({ code: 'idempotency_conflict' });
  });

  test('two accounts cannot share a workspace, even when both are made at once', async () => {
    const workspaceId = newId('ws');
    const outcomes = await Promise.allSettled(
      ['A', 'B', 'C'].map((name) => server.send(workspaceId, 'account.create', { name, plan: 'grow' })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('an account of another workspace cannot be given a credential', async () => {
    const { accountId } = await openAccount('grow');
    await expect(issue({ workspaceId: newId('ws'), accountId }, 'api_key')).rejects.toMatchObject({
      code: 'link_not_found',
    });
  });

  test('the same secret cannot be issued twice', async () => {
    const account = await openAccount('grow');
    const changes = { account_id: account.accountId, name: 'CI', kind: 'api_key', secret_digest: digestOf('one') };
    await server.send(account.workspaceId, 'credential.issue', changes);
    await expect(server.send(account.workspaceId, 'credential.issue', changes)).rejects.toMatchObject({
      code: 'value_taken',
    });
  });

  test('an unknown plan and a closed plan are refused with the field', async () => {
    for (const plan of ['platinum', 'classic'])
      await expect(server.send(newId('ws'), 'account.create', { name: 'A', plan })).rejects.toMatchObject({
        code: 'validation_failed',
        context: { errors: [{ path: '/changes/plan' }] },
      });
  });

  test('changes that are no JSON and workspaces that are no ids are refused', async () => {
    await expect(server.send('home', 'account.create', { name: 'A', plan: 'grow' })).rejects.toMatchObject({
      code: 'validation_failed',
    });
    const request = {
      workspaceId: newId('ws'),
      commandType: 'account.create',
      idempotencyKey: 'k',
      ifMatch: '',
      subjectType: 'accounts',
      subjectId: '',
      subjectVersion: undefined,
      changesJson: '{',
      reasonJson: '',
    };
    await expect(server.clients.operator.commands.execute(request, {})).rejects.toMatchObject({
      code: 'malformed_json',
    });
  });

  test('only the operator sends commands as itself, a gateway only those of people, and the operator verifies no credential', async () => {
    const request = {
      workspaceId: newId('ws'),
      commandType: 'account.create',
      idempotencyKey: 'k',
      ifMatch: '',
      subjectType: 'accounts',
      subjectId: '',
      subjectVersion: undefined,
      changesJson: '{"name":"A","plan":"grow"}',
      reasonJson: '',
    };
    const { gateway, management } = server.clients;
    await expect(gateway.commands.execute(request, {})).rejects.toMatchObject({ code: 'token_missing' });
    await expect(management.commands.execute(request, {})).rejects.toMatchObject({ code: 'permission_denied' });
    const verified = { credential: 'x', api: Api.MANAGEMENT, carrier: Carrier.HEADER };
    await expect(server.clients.operator.credentials.verify(verified, {})).rejects.toMatchObject({
      code: 'permission_denied',
    });
    // Management authenticates its own API, so it is answered.
    expect(await management.credentials.verify(verified, {})).toMatchObject({
      outcome: { $case: 'refusal' },
    });
  });

  test('every accepted command reaches the topic identity.events with its whole revision', async () => {
    const account = await openAccount('scale');
    await using bus = await createEventBus({ kind: 'redis', redisUrl: server.redis.url, clientName: 'test' });
    const seen = Promise.withResolvers<unknown>();
    await bus.subscribe({
      topic: topics.identity,
      group: 'test',
      handle: async (messages) => {
        const own = messages.find(({ key }) => key === account.accountId);
        if (own) seen.resolve(own.payload);
      },
    });
    const event = domainEventSchema.parse(await seen.promise);
    expect(event).toMatchObject({
      type: 'account.created',
      workspace_id: account.workspaceId,
      after: { attributes: { plan: 'scale', encoding_ms_per_month: 360_000_000 } },
    });
  });
});
