export {
  createGuardedFetch,
  type GuardedFetch,
  type GuardedRequest,
  type GuardedResponse,
  type ResolveHost,
} from './guarded-fetch.ts';
export { isPublicAddress } from './public-address.ts';
export { readAll, readStart } from './read-body.ts';
