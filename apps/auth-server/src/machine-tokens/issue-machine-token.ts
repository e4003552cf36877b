import { readFileSync } from 'node:fs';
import { machineTokens, type CommandType } from '@longwave/command-catalog';
import { executeEnvelope, type ExecuteCommand } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { signAccessToken } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { IssueRequest, IssueResponse } from '@longwave/rpc/credential';
import type { JWK } from 'jose';

/** Issuer and audience of every access token of a machine client, and the keys that sign it. */
export interface AccessTokenIssuer {
  /** `{base_url}`. */
  readonly issuer: string;
  /** `{api_url}/audience/v1`. */
  readonly audience: string;
  /** File with the private keys (JWKS), the newest first: it signs. Read for each token, so that a new key needs no restart. */
  readonly keysFile: string;
}

/** The key that signs: the first of the file. */
function signingKey(file: string): JWK {
  const [newest] = (JSON.parse(readFileSync(file, 'utf8')) as { keys: JWK[] }).keys;
  if (!newest) throw new Error(`${file} holds no key`);
  return newest;
}

/** Signs the claims of a recorded machine token. Equal records give equal claims. */
async function signMachineToken(
  { issuer, audience, keysFile }: AccessTokenIssuer,
  { id, attributes, created_at }: ResourceView,
): Promise<string> {
  const { producer, workspaces, scopes, expires_at } = machineTokens.attributes.parse(attributes);
  return signAccessToken(
    {
      iss: issuer,
      aud: audience,
      sub: producer,
      client_id: producer,
      scope: scopes.join(' '),
      producer,
      workspaces,
      iat: Math.floor(Date.parse(created_at) / 1000),
      exp: Math.floor(Date.parse(expires_at) / 1000),
      jti: id,
    },
    signingKey(keysFile),
  );
}

/**
 * Executes `machine_token.issue` for the operator and signs the token. A retry with the same key has the token again, unless it was
 * revoked meanwhile: `state_not_allowed`.
 */
export const issueMachineToken =
  (execute: ExecuteCommand, issuer: AccessTokenIssuer) =>
  async ({ workspaceId, idempotencyKey, changesJson }: IssueRequest, deadline: Date): Promise<IssueResponse> => {
    const envelope = {
      workspaceId,
      commandType: 'machine_token.issue' satisfies CommandType,
      idempotencyKey,
      ifMatch: '',
      subjectType: machineTokens.type,
      subjectId: '',
      subjectVersion: undefined,
      changesJson,
      reasonJson: '',
    };
    const outcome = await executeEnvelope(execute, envelope, { kind: 'service', name: 'operator' }, deadline);
    const record = JSON.parse(outcome.resourceJson) as ResourceView;
    if (record.lifecycle_state !== 'active')
      throw new Problem('state_not_allowed', `The machine token ${record.id} is ${record.lifecycle_state}.`);
    return {
      token: await signMachineToken(issuer, record),
      resourceJson: outcome.resourceJson,
      operationJson: outcome.operationJson,
    };
  };
