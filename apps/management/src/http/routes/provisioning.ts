import { productCatalog } from '@longwave/command-catalog';
import type { OperationView } from '@longwave/command-pipeline';
import { checkBodyHeaders, readJson } from '@longwave/http-kit';
import { requireIdempotencyKey } from '@longwave/idempotency';
import { parseOrProblem } from '@longwave/problems';
import { z } from 'zod';
import type { ManagementRoute } from '../management-route.ts';
import { operationSchema } from '../operation-schema.ts';
import { receiptSchema, receiptView } from './operations.ts';

const { name, currency, time_zone } = productCatalog.commands['workspace.provision'].changes.shape;

const newWorkspace = z.strictObject({
  name: name.describe('As people and programs see it.'),
  currency: currency.unwrap().describe('ISO 4217: the currency of all its prices; it cannot be changed.'),
  time_zone: time_zone.unwrap().describe('IANA name: the zone in which its dates are meant.'),
});

const provisioned = z.strictObject({ operation: operationSchema, receipt: receiptSchema });

const provision: ManagementRoute = {
  operation: 'workspace.provision',
  method: 'POST',
  path: '/workspace-provisioning',
  summary: 'Provision the first workspace of the account.',
  note: `It happens once: a repetition under the same key is answered with the status and the bytes of the first answer, any other key is
refused with the workspace that exists. The person then gives programs access to it with other scopes.`,
  scope: 'management:bootstrap',
  headers: {
    'Idempotency-Key': {
      description: 'Names this provisioning, from a stable identity of the work: every retry sends the same.',
      required: true,
    },
  },
  body: { name: 'NewWorkspace', schema: newWorkspace },
  answers: {
    200: {
      description: 'The workspace is there; the receipt is of kind `authority`.',
      body: { name: 'WorkspaceProvisioning', schema: provisioned },
      headers: { Location: 'Address of the operation.' },
    },
  },
  refusals: [
    'idempotency_key_required',
    'idempotency_key_invalid',
    'malformed_json',
    'validation_failed',
    'payload_too_large',
    'unsupported_media_type',
    'idempotency_conflict',
    'idempotency_in_progress',
    'workspace_exists',
  ],
  checkHeaders: checkBodyHeaders,
  answer: async ({ request, actor, token }, { provisionWorkspace, reader, root }) => {
    const idempotencyKey = requireIdempotencyKey(
      request.get('idempotency-key'),
      'Send an Idempotency-Key that names this provisioning.',
    );
    const workspace = parseOrProblem(newWorkspace, await readJson(request));
    const founder = { principal: actor.principal, clientId: token.clientId };
    const outcome = await provisionWorkspace(founder, idempotencyKey, workspace);
    const operation = JSON.parse(outcome.operationJson) as OperationView;
    const receipt = await reader.getReceipt(operation.workspace_id, operation.receipt_id);
    return {
      status: outcome.status,
      headers: { Location: `${root}/workspaces/${operation.workspace_id}/operations/${operation.id}` },
      body: `{"operation":${outcome.operationJson},"receipt":${JSON.stringify(receiptView(operation.workspace_id, receipt))}}`,
    };
  },
};

/** The way from an account without a workspace to its first one. */
export const provisioningRoutes: readonly ManagementRoute[] = [provision];
