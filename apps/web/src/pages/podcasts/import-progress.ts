import type { Answer } from '../../api/queries.ts';

type Import = Answer<'/podcasts/{id}/import'>;

/** How far an import is: an item is done when its audio is here and encoded, or when it has failed. */
export interface ImportProgress {
  readonly done: number;
  readonly total: number;
  /** Whether it goes on by itself. */
  readonly isUnderway: boolean;
  /** Encoded episodes that are neither published nor scheduled. */
  readonly drafts: number;
}

export function progressOf({ state, total, encoded, failed, published, scheduled }: Import): ImportProgress {
  const done = Math.min(total, encoded + failed);
  return {
    ...{ done, total, isUnderway: state === 'running' || (state === 'completed' && done < total) },
    drafts: Math.max(0, encoded - published - scheduled),
  };
}
