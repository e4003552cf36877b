import { Problem } from '@longwave/problems';
import { rpcService } from '@longwave/rpc';
import {
  AccountServiceService,
  Carrier,
  CredentialServiceService,
  Refusal,
  type VerifyResponse,
} from '@longwave/rpc/credential';
import { commandStandIn } from './_command-stand-in.ts';
import { principalOf, principals, refusals } from './_principals.ts';
import type { Scene } from './_scene.ts';

const gateway = ['rest-gateway'] as const;
const kinds = ['legacy_token', 'mcp_personal_token', 'api_key'] as const;
const sinceMs = BigInt(Date.parse('2026-11-20T09:00:00Z'));

/** One item of the calling account, named after its workspace; the rich account has 250. */
function itemsOf(statement: string | undefined, prefix: string, { after, limit }: { after: string; limit: number }) {
  const { workspace_id: name } = principalOf(statement);
  const count = statement === principals['rich']!.statement ? 250 : 1;
  return Array.from({ length: count }, (_, at) => `${prefix}_${String(at).padStart(26, '0')}`)
    .filter((id) => id > after)
    .slice(0, limit)
    .map((id) => ({ id, name, createdAtMs: sinceMs, updatedAtMs: sinceMs }));
}

const accountOf = (statement: string | undefined) =>
  Object.values(principals).find((one) => one.statement === statement)!.accountId;

/** A stand-in for auth-server with the credentials of `_principals.ts`. */
export function authServerServices(scene: Scene) {
  return [
    commandStandIn(scene),
    rpcService(
      AccountServiceService,
      { getAccount: gateway, listMembers: gateway, listKeys: gateway, findPlan: [], findPerson: [] },
      {
        getAccount: async (_request, { principalStatement }) => ({
          id: accountOf(principalStatement),
          name: 'Studio',
          email: 'studio@example.com',
          plan: 'scale',
          subscriptionState: 'active',
          trialEndsAtMs: undefined,
        }),
        listMembers: async (request, { principalStatement }) => ({
          members: itemsOf(principalStatement, 'mbr', request).map((item) => ({
            ...{
              ...item,
              accountId: 'acc_0000000000000000000000000f',
              email: '',
              permissions: ['edit'],
              state: 'active',
            },
          })),
        }),
        findPlan: async () => ({ plan: undefined }),
        findPerson: async () => ({ accountName: '', person: undefined }),
        listKeys: async (request, { principalStatement }) => ({
          keys: itemsOf(principalStatement, 'crd', request).map((item, at) => ({
            ...{
              ...item,
              kind: kinds[at % kinds.length]!,
              scope: 'read',
              state: 'active',
              expiresAtMs: sinceMs + 1_000n,
            },
          })),
        }),
      },
    ),
    rpcService(
      CredentialServiceService,
      { verify: gateway, followChanges: gateway },
      {
        followChanges: async () => {
          throw new Problem('temporarily_unavailable');
        },
        verify: async ({ credential, carrier }): Promise<VerifyResponse> => {
          scene.verified += 1;
          await scene.given.verifyAfter;
          const known = scene.given.refused ? undefined : principals[credential];
          const isCarried = carrier !== Carrier.COOKIE || known?.credentialKind === 'browser_session';
          const principal = isCarried ? known : undefined;
          return principal
            ? { outcome: { $case: 'principal', value: principal }, keepMs: 0, position: 0n }
            : {
                outcome: { $case: 'refusal', value: refusals[credential] ?? Refusal.UNKNOWN_USER },
                keepMs: 0,
                position: 0n,
              };
        },
      },
    ),
  ];
}
