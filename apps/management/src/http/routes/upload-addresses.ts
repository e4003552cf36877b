import { productCatalog, uploads, typedResource } from '@longwave/command-catalog';
import { permissionProblem } from '@longwave/command-pipeline';
import { checksumHeaders } from '@longwave/object-store/checksum';
import { Problem } from '@longwave/problems';
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
  answer: async ({ actor, workspaceId, parameter }, { access, uploads: signer }) => {
    const id = parameter('upload_id');
    await access.getVisible(actor, workspaceId, uploads.type, id);
    const denial = permissionProblem(productCatalog.commands['upload.sign_part'], actor, workspaceId);
    if (denial) throw denial;
    const part = /^[1-9]\d{0,4}$/.test(parameter('part_number')) ? Number(parameter('part_number')) : undefined;
    const signed = part === undefined ? undefined : await signer.signAskedPart(workspaceId, id, part);
    if (!signed) throw new Problem('not_found', 'Send upload.sign_part for this part first.');
    return json(
      { url: signed.url, expires_at: new Date(Number(signed.expiresAtMs)).toISOString(), part_number: part },
      { headers: { 'Cache-Control': 'no-store' } },
    );
  },
};

/** Addresses for sending files and their parts. */
export const uploadAddressRoutes: readonly ManagementRoute[] = [readAddress, readPart];
