import { openChannel } from '@longwave/rpc';
import { PreviewServiceService, type OpenPreviewRequest } from '@longwave/rpc/delivery';
import type { Bench } from './_support.ts';

/** Opens a preview of an episode as rest-gateway does. */
export async function openPreview(
  bench: Bench,
  grpcPort: number,
  asked: Pick<OpenPreviewRequest, 'workspaceId' | 'episodeId'> & Partial<OpenPreviewRequest>,
  as = 'rest-gateway',
) {
  const channel = openChannel(`127.0.0.1:${grpcPort}`, 'public-delivery', bench.tlsOf(as));
  const listener = { country: 'DE', app: 'Overcast', device: 'mobile', operatingSystem: 'iOS', atMs: undefined };
  return channel
    .client(PreviewServiceService)
    .openPreview({ ...listener, ...asked }, { deadlineMs: 20_000 })
    .finally(() => channel.close());
}
