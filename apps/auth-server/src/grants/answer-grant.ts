import { createPrincipalSigner, type Principal } from '@longwave/principal';
import type { RpcClient } from '@longwave/rpc';
import type { CommandServiceService } from '@longwave/rpc/command';
import type { JWK } from 'jose';

interface GrantAnswer {
  readonly id: string;
  readonly workspaceId: string;
  /** The version that the person has seen. */
  readonly version: number;
  readonly isAccepted: boolean;
}

/** Takes up or declines an authority grant for the person whom it names. Throws the `Problem` of management that refuses it. */
export type AnswerGrant = (answer: GrantAnswer, principal: Principal) => Promise<void>;

/**
 * Sends the answer to management, which keeps the grants and decides whom they name. The key names the version, so that a form that is sent
 * twice answers once.
 * @param options.principalKey Ed25519, private
 */
export function createAnswerGrant(options: {
  readonly execute: RpcClient<typeof CommandServiceService>['execute'];
  readonly principalKey: JWK | (() => JWK);
  readonly clock: () => Date;
}): AnswerGrant {
  const { execute, principalKey, clock } = options;
  const sign = createPrincipalSigner(principalKey);
  return async ({ id, workspaceId, version, isAccepted }, principal) => {
    const commandType = isAccepted ? 'authority_grant.activate' : 'authority_grant.revoke';
    const changes = isAccepted ? {} : { cause: 'The person declined the grant.' };
    await execute(
      {
        ...{ workspaceId, commandType, idempotencyKey: `${commandType}:${id}:${version}`, ifMatch: '' },
        ...{ subjectType: 'authority_grants', subjectId: id, subjectVersion: version },
        ...{ changesJson: JSON.stringify(changes), reasonJson: '' },
      },
      { principalStatement: await sign(principal, clock()) },
    );
  };
}
