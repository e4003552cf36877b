import type { Actor } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { CompactSign, exportJWK, generateKeyPair, type JWK } from 'jose';
import { keyProofType, thumbprintOf } from '../src/workspace/authority/key-proof.ts';
import { saveAccount, saveMember, saveUser } from '../src/workspace/people/people-table.ts';
import type { HostingWorld } from './_hosting.ts';
import { hour, person, service } from './_values.ts';

/** A person with a user, who acts in an own workspace or in the given one. */
export function userIn(workspaceId: string = newId('ws'), roles?: Parameters<typeof person>[1]) {
  const actor = person(workspaceId, roles);
  if (actor.kind !== 'principal') throw new Error('a person');
  const userId = newId('usr');
  return { userId, actor: { ...actor, principal: { ...actor.principal, user_id: userId } } };
}

/** A key pair with the public key as it is registered. */
export async function keyPair() {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true, crv: 'Ed25519' });
  const { kty, crv, x } = await exportJWK(publicKey);
  const jwk = { kty, crv, x } as JWK;
  const sign = (statement: unknown, header: Record<string, unknown> = {}) =>
    new CompactSign(Buffer.from(JSON.stringify(statement)))
      .setProtectedHeader({ alg: 'EdDSA', typ: keyProofType, ...header })
      .sign(privateKey);
  return { jwk, sign, privateJwk: await exportJWK(privateKey) };
}

/** Creates a workspace's people, grants and keys. */
export function createAuthority(hosting: HostingWorld) {
  const { send, pool, workspaceId } = hosting;
  const operator = service('operator');
  const inTime = (ms: number) => new Date(hosting.now().getTime() + ms).toISOString();
  const world = {
    inTime,
    /** Makes the owner of the workspace's account known, whom `world.actor` is then. */
    async known() {
      const owner = userIn(workspaceId, ['owner', 'publisher', 'trafficker', 'sales', 'admin']);
      const { account_id: id } = owner.actor.principal;
      await saveAccount(pool, { id, workspaceId, ownerUserId: owner.userId, isActive: true, version: 1 });
      return owner;
    },
    /** A member of the organization, with an account of its own. */
    async member(roles: Parameters<typeof person>[1] = ['viewer', 'reviewer']) {
      const member = userIn(newId('ws'), []);
      const { account_id: accountId, workspace_id: own } = member.actor.principal;
      await saveAccount(pool, {
        ...{ id: accountId, workspaceId: own, ownerUserId: member.userId, isActive: true, version: 1 },
      });
      const membershipId = newId('mbr');
      const save = (version: number, isActive: boolean) =>
        saveMember(pool, { membershipId, workspaceId, accountId, roles, isActive, version });
      await save(1, true);
      const grants = [{ workspace_id: workspaceId, roles }];
      const actor: Actor = { ...member.actor, principal: { ...member.actor.principal, grants } };
      return { userId: member.userId, actor, leave: () => save(2, false) };
    },
    /** A stranger who has proved an address. */
    async stranger() {
      const stranger = userIn();
      const email = `${stranger.userId}@example.org`;
      await saveUser(pool, { id: stranger.userId, email, version: 1 });
      return { ...stranger, email };
    },
    async workspace(): Promise<ResourceView> {
      const { resource } = await hosting.provisioned();
      return resource!;
    },
    async suspended() {
      return send('workspace.suspend', await world.workspace(), { cause: 'The bill is open.' }, operator);
    },
    /** A closed workspace whose podcasts, grants and keys nothing has ended. */
    async closed() {
      const closing = await send('workspace.close', await world.suspended(), { confirm_name: 'A' }, operator);
      return send('workspace.complete_close', closing, {}, service('management'));
    },
    grantChanges: (grantee: Readonly<Record<string, string>> = { user_id: newId('usr') }, more: object = {}) => ({
      ...{ grantee, role: 'trafficker', expires_at: inTime(1000 * hour), ...more },
    }),
    proposed: (grantee?: Readonly<Record<string, string>>, more: object = {}) =>
      send('authority_grant.propose', null, world.grantChanges(grantee, more), operator),
    /** The grantee as `createAccess` knows it: the party of the grant. */
    asParty: (actor: Actor): Actor => ({ ...actor, ...(actor.kind === 'principal' && { isParty: true }) }),
    /** An active grant, and its grantee. */
    async granted(more: object = {}) {
      const grantee = userIn();
      const proposed = await world.proposed({ user_id: grantee.userId }, more);
      const grant = await send('authority_grant.activate', proposed, {}, world.asParty(grantee.actor));
      return { ...grantee, grant };
    },
    /** A valid registration of a new key. */
    async registration(authorityId: string, more: object = {}) {
      const { jwk, sign } = await keyPair();
      const proof = await sign({
        ...{ workspace_id: workspaceId, authority_id: authorityId, jkt: await thumbprintOf(jwk) },
        ...{ nonce: newId('req').slice(4), iat: Math.floor(hosting.now().getTime() / 1000) },
      });
      const notAfter = inTime(500 * hour);
      return { authority_id: authorityId, jwk, purposes: ['content'], not_after: notAfter, proof, ...more };
    },
    async pendingKey(authorityId?: string) {
      const id = authorityId ?? (await world.granted()).grant.id;
      return send('machine_key.register', null, await world.registration(id), operator);
    },
    async activeKey(authorityId?: string) {
      return send('machine_key.activate', await world.pendingKey(authorityId), {});
    },
  };
  return world;
}
