import { productCatalog, typedResource } from '@longwave/command-catalog';
import { z } from 'zod';
import { json, type ManagementRoute } from '../management-route.ts';

const signedAudio = z.strictObject({
  url: z
    .string()
    .describe('Plays the prepared ad, `audio/mpeg`, without a token. A secret. What is heard by it is not counted.'),
  expires_at: z.iso.datetime(),
  duration_ms: z.int(),
  loudness_lufs: z.number().nullable().describe('Integrated loudness of this stream; null when it was not measured.'),
});

const readAudio: ManagementRoute = {
  operation: 'creative.read_audio',
  method: 'GET',
  path: '/workspaces/{workspace_id}/creatives/{creative_id}/audio',
  summary: 'A short-lived address by which a prepared creative is heard.',
  note: 'For whoever sees the creative. 404 while it has no stream.',
  scope: 'management:read',
  answers: {
    200: {
      description: 'The address, and what is heard by it.',
      body: { name: 'CreativeAudio', schema: signedAudio },
      headers: { 'Cache-Control': '`no-store`: the address is a secret.' },
    },
  },
  refusals: ['not_found'],
  answer: async ({ actor, workspaceId, parameter }, { readAccess, uploads }) => {
    const id = parameter('creative_id');
    const { resource } = await readAccess.getVisible(actor, workspaceId, productCatalog.resources.creatives.type, id);
    const { attributes } = typedResource(resource, 'creatives');
    const { url, expiresAtMs, stream } = await uploads.signCreative(id, attributes.media);
    return json(
      {
        url,
        expires_at: new Date(Number(expiresAtMs)).toISOString(),
        duration_ms: stream.duration_ms,
        loudness_lufs: stream.loudness_lufs,
      },
      { headers: { 'Cache-Control': 'no-store' } },
    );
  },
};

/** What is heard of creatives. */
export const creativeAudioRoutes: readonly ManagementRoute[] = [readAudio];
