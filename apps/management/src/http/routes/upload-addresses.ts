import { productCatalog, uploads, typedResource, type ProductCommand } from '@longwave/command-catalog';
import { permissionProblem } from '@longwave/command-pipeline';
import { checksumHeaders } from '@longwave/object-store/checksum';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { json, type ManagementRoute, type RouteCall, type RouteDeps } from '../management-route.ts';

/**
 * The upload of a route. Whoever has an address writes to it: reading one needs the right to send the command that grants it. Throws
 * `not_found` or `permission_denied`.
 */
async function grantedUpload(
  { actor, workspaceId, parameter }: RouteCall,
  { access }: Pick<RouteDeps, 'access'>,
  commandType: ProductCommand,
) {
  const { resource } = await access.getVisible(actor, workspaceId, uploads.type, parameter('upload_id'));
  const denial = permissionProblem(productCatalog.commands[commandType], actor, workspaceId);
  if (denial) throw denial;
  return typedResource(resource, 'uploads');
}

const signedAddress = z.strictObject({
  url: z.string().describe('Takes the whole file by PUT, without a token. A secret.'),
  headers: z.record(z.string(), z.string()).describe('The PUT must have them.'),
  expires_at: z.iso.datetime(),
});

const readAddress: ManagementRoute = {
  operation: 'upload.read_address',
  method: 'GET',
  path: '/workspaces/{workspace_id}/uploads/{upload_id}/address',
  summary: 'A signed address to which a granted file is sent.',
  note: 'Each request signs a new address, because none is stored: operations, versions and receipts hold no secret. One PUT sends at most 5 GiB.',
  scope: 'management:write',
  answers: { 200: { description: 'The address.', body: { name: 'UploadAddress', schema: signedAddress } } },
  refusals: ['not_found', 'permission_denied', 'validation_failed'],
  answer: async (call, deps) => {
    const { id, attributes } = await grantedUpload(call, deps, 'upload.grant');
    const { content_type: type, checksum_sha256: sha256 } = attributes;
    const { url, expiresAtMs } = await deps.uploads.signUpload(call.workspaceId, id);
    return json({
      url,
      headers: { 'content-type': type, ...(sha256 !== undefined && checksumHeaders(sha256)) },
      expires_at: new Date(Number(expiresAtMs)).toISOString(),
    });
  },
};

const signedPart = z.strictObject({
  url: z.string().describe('Takes the bytes of the part by PUT, without a token. A secret.'),
  expires_at: z.iso.datetime(),
  part_number: z.int(),
});

const readPart: ManagementRoute = {
  operation: 'upload.read_part',
  method: 'GET',
  path: '/workspaces/{workspace_id}/uploads/{upload_id}/parts/{part_number}',
  summary: 'The signed address of a part, after `upload.sign_part` for it.',
  note: 'Each request signs a new address, because none is stored: operations, versions and receipts hold no secret.',
  scope: 'management:write',
  answers: {
    200: {
      description: 'The address.',
      body: { name: 'SignedPart', schema: signedPart },
      headers: { 'Cache-Control': '`no-store`: the address is a secret.' },
    },
  },
  refusals: ['not_found', 'permission_denied', 'validation_failed'],
  answer: async (call, deps) => {
    const { id } = await grantedUpload(call, deps, 'upload.sign_part');
    const number = call.parameter('part_number');
    const part = /^[1-9]\d{0,4}$/.test(number) ? Number(number) : undefined;
    const signed = part === undefined ? undefined : await deps.uploads.signAskedPart(call.workspaceId, id, part);
    if (!signed) throw new Problem('not_found', 'Send upload.sign_part for this part first.');
    return json(
      { url: signed.url, expires_at: new Date(Number(signed.expiresAtMs)).toISOString(), part_number: part },
      { headers: { 'Cache-Control': 'no-store' } },
    );
  },
};

/** Addresses for sending files and their parts. */
export const uploadAddressRoutes: readonly ManagementRoute[] = [readAddress, readPart];
