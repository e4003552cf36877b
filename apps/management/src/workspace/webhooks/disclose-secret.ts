import type { ProductCommand } from '@longwave/command-catalog';
import { findRevision, type ExecuteCommand, type OperationView } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { currentSecret, type WebhookSecrets } from './endpoint-secrets.ts';
import { secretText } from './webhook-secret.ts';

/** A retry of the command shows the secret again for this long; later only a rotation makes one known. */
const disclosedForMs = 3_600_000;

const disclosing: readonly string[] = [
  'webhook_endpoint.create',
  'webhook_endpoint.rotate_secret',
] satisfies ProductCommand[];

/**
 * Adds the secret of a new endpoint, or of a rotation, to the answer of the client that sent the command. The secret is derived again from
 * the revision that the command made: nothing stored holds it, and a used key discloses it to its own client alone.
 */
export const discloseSecrets =
  (
    execute: ExecuteCommand,
    { pool, secrets, clock }: { readonly pool: Pool; readonly secrets: WebhookSecrets; readonly clock: () => Date },
  ): ExecuteCommand =>
  async (request, actor, subject) => {
    const outcome = await execute(request, actor, subject);
    if (!disclosing.includes(request.commandType)) return outcome;
    const operation = JSON.parse(outcome.operationJson) as OperationView;
    if (clock().getTime() - Date.parse(operation.created_at) > disclosedForMs) return outcome;
    const endpoint = { id: operation.subject.id, resource_type: 'webhook_endpoints' } as const;
    const revision = await findRevision(pool, endpoint, operation.subject.version);
    const secret = revision && currentSecret(secrets, endpoint.id, revision.attributes);
    return secret ? { ...outcome, disclosed: { secret: secretText(secret) } } : outcome;
  };
