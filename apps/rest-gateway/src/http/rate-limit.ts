import type { CountRequest, RateVerdict } from '@longwave/http-kit';
import type { Caller } from '@longwave/hosting-client';

/** `upload_urls` is the separate, higher limit of the three upload URL endpoints. */
export type Bucket = 'requests' | 'upload_urls';

export type CountCaller = (caller: Caller, bucket: Bucket) => Promise<RateVerdict>;

/** Legacy tokens have no separate upload limit. */
function limitOf(
  { credentialKind, plan }: Caller,
  bucket: Bucket,
): { readonly bucket: Bucket; readonly limit: number } {
  if (bucket === 'upload_urls' && credentialKind !== 'legacy_token') return { bucket, limit: plan.uploadUrlsPerMinute };
  return { bucket: 'requests', limit: plan.requestsPerMinute };
}

/** Browser sessions are not counted. */
const uncountedKind = 'browser_session';

/** Counts per authenticated client, which a rotation keeps. */
export const countCallers =
  (countRequest: CountRequest): CountCaller =>
  async (caller, wanted) => {
    if (caller.credentialKind === uncountedKind) return { throttled: false, headers: {} };
    const { bucket, limit } = limitOf(caller, wanted);
    return countRequest(`${bucket}:${caller.clientId || caller.credentialId}`, limit);
  };
