import { ApiProblem } from '../problems.ts';
import type { Grants } from './grants.ts';

/** Who sends from this page: the one who was signed in when it was first asked. */
export interface Owner {
  /** Names the person and the account. */
  readonly find: () => Promise<string>;
  /** Throws `ApiProblem` 401 when somebody else, or another account, is signed in by now: the cookie is that of the whole browser. */
  readonly assertSame: (signal: AbortSignal) => Promise<void>;
}

/** @param ask who is signed in now; it may fail, and is asked again then */
export function createOwner(ask: (signal?: AbortSignal) => Promise<string>): Owner {
  let first: Promise<string> | undefined;
  const find = () =>
    (first ??= ask().catch((error: unknown) => {
      first = undefined;
      throw error;
    }));
  return {
    find,
    assertSame: async (signal) => {
      const [owner, now] = [await find(), await ask(signal)];
      if (owner !== now) throw new ApiProblem('', { status: 401, slug: 'another_account' });
    },
  };
}

/** Grants for the owner's files alone: none is made in the account of whoever is signed in later. */
export const grantsOf = (owner: Owner, grants: Grants): Grants => ({
  ...grants,
  grant: async (file, key, signal) => {
    await owner.assertSame(signal);
    return grants.grant(file, key, signal);
  },
});
