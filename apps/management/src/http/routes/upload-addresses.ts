import { productCatalog, uploads, typedResource } from '@longwave/command-catalog';
import { permissionProblem } from '@longwave/command-pipeline';
import { checksumHeaders } from '@longwave/object-store/checksum';
import { z } from 'zod';
import { json, type ManagementRoute } from '../management-route.ts';

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
  answer: async ({ actor, workspaceId, parameter }, { access, uploads: signer }) => {
    const id = parameter('upload_id');
    const { resource } = await access.getVisible(actor, workspaceId, uploads.type, id);
    // Whoever has the address writes, so reading it needs the right to grant uploads.
    const denial = permissionProblem(productCatalog.commands['upload.grant'], actor, workspaceId);
    if (denial) throw denial;
    const { content_type: type, checksum_sha256: sha256 } = typedResource(resource, 'uploads').attributes;
    const { url, expiresAtMs } = await signer.signUpload(workspaceId, id);
    return json({
      url,
      headers: { 'content-type': type, ...(sha256 !== undefined && checksumHeaders(sha256)) },
      expires_at: new Date(Number(expiresAtMs)).toISOString(),
    });
  },
};

/** Addresses for sending files. */
export const uploadAddressRoutes: readonly ManagementRoute[] = [readAddress];
