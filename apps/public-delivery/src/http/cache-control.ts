/**
 * `Cache-Control` of what anybody may see of a podcast (RFC 5861 §3). Caches show an episode that was taken offline for at most these six
 * minutes; with a longer `stale-while-revalidate`, who comes first after a quiet time would still see it.
 */
export const publicCacheControl = 'public, max-age=60, stale-while-revalidate=300';
