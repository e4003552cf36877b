import { createHash } from 'node:crypto';
import type { Caller } from '@longwave/hosting-client';
import type { Verifier } from '@longwave/http-kit/verify-under-lease';
import { Api, Carrier } from '@longwave/rpc/credential';

/** A person with a token for the MCP resource. */
export interface TokenHolder {
  readonly caller: Caller;
  readonly scopes: readonly string[];
  /** The grant of the token, which confirmations belong to; a personal token is its own. */
  readonly grant: string;
  /** Stands for the token in logs: the first ten hexadecimal digits of its SHA-256. */
  readonly fingerprint: string;
}

/** Verifies a token; undefined for every text that is no token for the MCP resource now. */
export type VerifyToken = (token: string) => Promise<TokenHolder | undefined>;

/** A revocation takes effect at once: what auth-server said is kept only while it is certain that nothing has changed. */
export const createVerifyToken =
  ({ verify }: Pick<Verifier, 'verify'>): VerifyToken =>
  async (token) => {
    const outcome = await verify({ credential: token, api: Api.MCP, carrier: Carrier.HEADER });
    if (outcome?.$case !== 'principal') return undefined;
    const { plan, scopes, grantId, credentialId } = outcome.value;
    if (!plan) throw new Error('auth-server named a principal without a plan');
    return {
      caller: { ...outcome.value, plan },
      scopes,
      grant: grantId || credentialId,
      fingerprint: createHash('sha256').update(token).digest('hex').slice(0, 10),
    };
  };
