import { Problem } from '@longwave/problems';
import type { Principal } from '@longwave/rpc/credential';

/** Who asks, and until when an answer is of use. */
export type Asker = Principal & { readonly deadline: Date };

/** Options of a call to another service on behalf of a person. */
export const callOptions = ({ statement, deadline }: Pick<Asker, 'statement' | 'deadline'>) => ({
  principalStatement: statement,
  deadline,
});

/** Contract, Errors, row 404: the same text for an absent and for an invisible object. */
export const notFoundProblem = (noun: string, id: string): Problem =>
  new Problem('not_found', `The ${noun} with id ${id} could not be found.`);

export const isNotFound = (error: unknown): boolean => error instanceof Problem && error.code === 'not_found';
