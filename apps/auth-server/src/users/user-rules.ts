import type { identityCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { deleteSecondFactor } from '../second-factor/second-factor-table.ts';
import { recordSecurityEvent } from '../security-events/security-event-table.ts';

const byOperator = { by: 'by the operator' };

/** Rules of the user commands: an address is changed only after a mail to it was answered. */
export const userRules: Pick<
  Rules<typeof identityCatalog>,
  'user.verify_email' | 'user.change_email' | 'user.remove_second_factor'
> = {
  'user.verify_email': ({ current }) => ({ attributes: { ...current, email_verified: true } }),
  'user.change_email': ({ current, changes }) => ({ attributes: { ...current, ...changes, email_verified: true } }),
  'user.remove_second_factor': ({ current, subjectId, actor, now }) => ({
    attributes: current,
    also: async (tx) => {
      if (!(await deleteSecondFactor(tx, subjectId)))
        throw new Problem('state_not_allowed', 'This user signs in with the password alone.');
      const isOperator = actor.kind === 'service' && actor.name === 'operator';
      await recordSecurityEvent(tx, subjectId, 'second_factor_off', now, isOperator ? byOperator : undefined);
    },
  }),
};
