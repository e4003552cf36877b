import { Problem } from '@longwave/problems';
import type { Plan, Principal } from '@longwave/rpc/credential';

/** A principal as auth-server names it, with its plan. */
export type Caller = Principal & { readonly plan: Plan };

/** The person who asks, and the time after which the answer is of no use. */
export type Asker = Caller & { readonly deadline: Date };

/** Options of a call to another service on behalf of a person. */
export const callOptions = ({ statement, deadline }: Pick<Asker, 'statement' | 'deadline'>) => ({
  principalStatement: statement,
  deadline,
});

/** The same text for an absent and for an invisible object, so that nobody learns which ids exist. */
export const notFoundProblem = (noun: string, id: string): Problem =>
  new Problem('not_found', `The ${noun} with id ${id} could not be found.`);
