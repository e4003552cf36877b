import { expect, test } from '@jest/globals';
import { signPrincipal, type Principal } from '@longwave/principal';
import type { RpcContext } from '@longwave/rpc';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { createCheckAccess } from './access.ts';

const now = new Date('2026-11-21T12:00:00.000Z');
const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
const other = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
const check = createCheckAccess([await exportJWK(pair.publicKey)], () => now);

const someone: Principal = {
  account_id: 'acc_1',
  workspace_id: 'ws_own',
  roles: ['owner'],
  grants: [
    { workspace_id: 'ws_organization', roles: ['viewer', 'analyst'] },
    { workspace_id: 'ws_host', podcast_id: 'pod_shared', roles: ['viewer', 'analyst'] },
    { workspace_id: 'ws_host', podcast_id: 'pod_edited', roles: ['viewer', 'editor'] },
    { workspace_id: 'ws_visited', roles: ['viewer', 'editor', 'producer', 'scheduler', 'manager'] },
  ],
  credential_id: 'crd_1',
  credential_kind: 'api_key',
  read_only: true,
};

async function asked(workspaceId: string, podcastIds: readonly string[], privateKey?: JWK): Promise<string> {
  const principalStatement = await signPrincipal(someone, privateKey ?? (await exportJWK(pair.privateKey)), now);
  return answerTo({ caller: 'rest-gateway', principalStatement }, workspaceId, podcastIds);
}
const answerTo = (context: Partial<RpcContext>, workspaceId: string, podcastIds: readonly string[]) =>
  check(context as RpcContext, workspaceId, podcastIds).then(
    () => 'allowed',
    ({ code, message }: Error & { readonly code: string }) => `${code}: ${message}`,
  );

test('a person sees numbers of its own workspace, of its organization and of the podcasts it shares, and nothing else', async () => {
  const hidden = await asked('ws_unknown', []);
  expect(hidden).toBe('not_found: There is no such workspace.');
  expect(await asked('ws_own', [])).toBe('allowed');
  expect(await asked('ws_own', ['pod_any'])).toBe('allowed');
  expect(await asked('ws_organization', [])).toBe('allowed');
  expect(await asked('ws_host', ['pod_shared'])).toBe('allowed');
  expect(await asked('ws_host', ['pod_shared', 'pod_other'])).toBe(hidden);
  expect(await asked('ws_host', ['pod_other'])).toBe(hidden);
  expect(await asked('ws_host', [])).toBe(hidden);
});

test('a person without a role of analytics sees the numbers of one podcast alone, for its milestones', async () => {
  const refused = 'permission_denied: You may not see analytics here.';
  expect(await asked('ws_visited', [])).toBe(refused);
  expect(await asked('ws_visited', ['pod_1', 'pod_2'])).toBe(refused);
  expect(await asked('ws_host', ['pod_shared', 'pod_edited'])).toBe(refused);
  expect(await asked('ws_visited', ['pod_1'])).toBe('allowed');
  expect(await asked('ws_host', ['pod_edited'])).toBe('allowed');
});

test('a gateway needs the signed statement of a person; the operator does not', async () => {
  expect(await answerTo({ caller: 'rest-gateway' }, 'ws_own', [])).toMatch(/^token_missing/);
  expect(await asked('ws_own', [], await exportJWK(other.privateKey))).toMatch(/^token_invalid/);
  expect(await answerTo({ caller: 'operator' }, 'ws_own', [])).toBe('allowed');
});
