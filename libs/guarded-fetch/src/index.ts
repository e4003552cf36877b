export { checkUrl } from './check-url.ts';
export { createGuardedFetch, type GuardedFetch, type GuardedRequest } from './guarded-fetch.ts';
export { isPublicAddress } from './public-address.ts';
export { readAll, readStart } from './read-body.ts';
