import { Problem } from '@longwave/problems';

/** Why an address gave no answer. */
export type FetchFailure = 'address_refused' | 'not_reachable' | 'certificate_invalid' | 'timeout';

/**
 * The class of an error of a guarded fetch whose time is bounded by a signal of the caller. Names that do not exist and names of private
 * networks are the same class.
 */
export function fetchFailureOf(error: unknown): FetchFailure {
  if (!(error instanceof Problem)) return 'timeout';
  const { code = '' } = (error.cause ?? {}) as { readonly code?: string };
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code)) return 'certificate_invalid';
  return error.cause === undefined || /^(ENOTFOUND|ENODATA|EAI_)/.test(code) ? 'address_refused' : 'not_reachable';
}
