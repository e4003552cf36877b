import { expect, test } from '@jest/globals';
import { productCatalog, type CommandDefinition, type ResourceDefinition } from '@longwave/command-catalog';
import { newId } from '@longwave/ids';
import { apiContractSchema } from '@longwave/services';
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { managementContract } from '../src/http/public-documents.ts';
import { managementRoutes } from '../src/http/routes.ts';
import { undocumented } from './_documented.ts';
import { api, management } from './_shared-http.ts';
import { createWorld } from './_world.ts';

const commands: readonly CommandDefinition[] = Object.values(productCatalog.commands);

test('the contract needs no token; it names the version and every operation, and how unknown fields are handled', async () => {
  const { status, json, headers } = await api.call('/contract');
  expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
  const contract = apiContractSchema.parse(json);
  expect(contract).toMatchObject({ name: 'Management API', version: '1.0.0', status: 'current', deprecations: [] });
  const listed = contract.capabilities.map(({ operation }) => operation);
  expect(listed).toEqual(expect.arrayContaining(managementRoutes.map(({ operation }) => operation)));
  expect(new Set(listed).size).toBe(listed.length);
  expect(contract.unknown_fields).toMatchObject({
    requests: { rule: 'refused' },
    responses: { rule: 'optional_may_be_ignored' },
  });
});

test('deprecated commands and resource types are listed in the contract with all five facts', () => {
  const facts = {
    deprecated_on: '2027-01-01',
    last_supported_version: '1.2.0',
    replacement: 'advertiser.draft',
    migration: 'Send the same changes.',
    removal_on: '2029-01-01',
  };
  const create: CommandDefinition = { ...productCatalog.commands['advertiser.create'], deprecated: facts };
  const advertisers: ResourceDefinition = { ...productCatalog.resources.advertisers, deprecated: facts };
  const { deprecations } = managementContract(managementRoutes, {
    resources: { ...productCatalog.resources, advertisers },
    commands: { ...productCatalog.commands, 'advertiser.create': create },
  });
  expect(deprecations).toEqual([
    { operation: 'advertisers', ...facts },
    { operation: 'advertiser.create', ...facts },
  ]);
});

test('the catalog lists every type, and every command that people may send with what a client must know', async () => {
  const { status, json } = await api.call('/catalog');
  expect(status).toBe(200);
  const types = json.resource_types as { resource_type: string; sort_keys: Record<string, { stable: boolean }> }[];
  expect(types.map(({ resource_type: type }) => type)).toEqual(Object.keys(productCatalog.resources));
  for (const { sort_keys: keys } of types)
    expect(keys).toMatchObject({ created_at: { stable: true }, state: { stable: false } });
  const forPeople = commands.filter(({ roles, party }) => roles.length > 0 || party).map(({ type }) => type);
  expect(json.commands.map(({ command_type: type }: { command_type: string }) => type)).toEqual(forPeople);
  const takenUp = json.commands.find(
    ({ command_type: type }: { command_type: string }) => type === 'authority_grant.activate',
  );
  expect(takenUp).toMatchObject({ roles: ['admin'], party: 'grantee' });
  const pause = json.commands.find(({ command_type: type }: { command_type: string }) => type === 'campaign.pause');
  expect(pause).toMatchObject({
    subject_type: 'campaigns',
    from: ['active'],
    to: ['paused'],
    mode: 'sync',
    review: 'none',
    since: '1.0.0',
    changes_schema: { type: 'object', additionalProperties: false, required: ['cause'] },
  });
});

test('the changes of every command are closed: a field that it does not know is refused', async () => {
  const { json } = await api.call('/catalog');
  for (const { command_type: type, changes_schema: schema } of json.commands)
    expect([type, schema.additionalProperties ?? schema.anyOf]).toEqual([type, false]);
});

test('the documents allow as the reason of a command what the pipeline takes: words, or the review that the command corrects', async () => {
  const reason = {
    anyOf: [
      { type: 'string', maxLength: 2000 },
      { type: 'object', properties: { corrects: { type: 'string', pattern: expect.any(String) } } },
    ],
  };
  const { json } = await api.call('/catalog');
  const configure = json.commands.find(
    ({ command_type: type }: { command_type: string }) => type === 'workspace.configure',
  );
  expect(configure).toMatchObject({ reason_schema: reason, reason_required: false });
  const { paths, components } = (await api.call('/openapi.json')).json;
  const { requestBody } = paths['/workspaces/{workspace_id}/commands/workspace.configure'].post;
  const name = requestBody.content['application/json'].schema.$ref.split('/').at(-1);
  expect(components.schemas[name].properties.reason).toMatchObject(reason);
});

test('the published keys verify a receipt, and hold nothing private', async () => {
  const world = createWorld(management);
  const token = api.tokenFor(world.actor);
  const at = `/workspaces/${world.workspaceId}`;
  const body = {
    subject: { type: 'advertisers', id: null },
    changes: { legal_name: 'Tidewater', brands: [], ad_product_categories: [] },
  };
  const created = await api.call(`${at}/commands/advertiser.create`, {
    ...{ token, body },
    headers: { 'idempotency-key': newId('req') },
  });
  const receipt = await api.call(`${at}/receipts/${created.json.receipt_id}`, { token });
  const { json, headers } = await api.call('/keys');
  expect(headers.get('cache-control')).toBe('public, max-age=300');
  expect(json.keys).toEqual([
    { kty: 'OKP', crv: 'Ed25519', x: expect.any(String), kid: 'test-1', alg: 'EdDSA', use: 'sig' },
  ]);
  const { payload } = await compactVerify(receipt.json.jws, createLocalJWKSet(json as JSONWebKeySet));
  expect(JSON.parse(Buffer.from(payload).toString())).toEqual(receipt.json.statement);
});

test('a document that a client has is not sent again, and cannot be written', async () => {
  const etag = (await api.call('/catalog')).headers.get('etag')!;
  expect((await api.call('/catalog', { headers: { 'if-none-match': etag } })).status).toBe(304);
  const put = await api.call('/contract', { method: 'PUT' });
  expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

test('a problem with a code that its operation does not declare is told from a documented answer', async () => {
  const answer = await api.call(`/workspaces/${newId('ws')}/checkpoint`, {
    token: api.tokenFor(createWorld(management).actor),
  });
  expect([answer.status, answer.json.code]).toEqual([404, 'not_found']);
  const told = (code: string) =>
    undocumented('GET', '/workspaces/{workspace_id}/checkpoint', { ...answer, json: { ...answer.json, code } });
  expect(told('not_found')).toBeUndefined();
  expect(told('unknown_command')).toMatch(/checkpoint 404: .*code/);
});
