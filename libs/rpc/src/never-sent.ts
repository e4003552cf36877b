import type { Problem } from '@longwave/problems';

/** Why a call failed of which nothing has left this process: another replica may serve it. */
export class NeverSent extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super('The call was never sent.', { cause: problem });
    this.name = 'NeverSent';
    this.problem = problem;
  }
}
