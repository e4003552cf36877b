import type { Attributes, ChangesOf, identityCatalog } from '@longwave/command-catalog';
import { findAnywhere, type RuleInput, type Rules } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { countAccounts, isEmailTaken } from '../identity-table.ts';
import type { Plans } from '../plans.ts';
import { assertEmailFree, createAccount, assertUnoccupied, setPlan } from './account.ts';
import { insertWithoutWorkspace } from './without-workspace-table.ts';

type AccountRules = Pick<
  Rules<typeof identityCatalog>,
  'account.create' | 'account.create_without_workspace' | 'account.set_plan' | 'account.revise' | 'account.assign_owner'
>;

type NewAccountInput = Pick<RuleInput<unknown, ChangesOf<'account.create'>>, 'tx' | 'workspaceId' | 'changes'>;

async function newAccount(
  { tx, workspaceId, changes }: NewAccountInput,
  plans: Plans,
): Promise<Attributes<'accounts'>> {
  assertUnoccupied(await countAccounts(tx, workspaceId));
  if (changes.email !== undefined) assertEmailFree(changes.email, await isEmailTaken(tx, changes.email));
  return createAccount(changes, plans);
}

/** Loads what each rule needs and lets the pure functions decide. */
export const accountRules = (plans: Plans): AccountRules => ({
  'account.create': async (input) => ({ attributes: await newAccount(input, plans) }),

  'account.create_without_workspace': async (input) => {
    const { workspaceId, subjectId, now } = input;
    return {
      attributes: await newAccount(input, plans),
      also: (tx) => insertWithoutWorkspace(tx, { accountId: subjectId, workspaceId, since: now }),
    };
  },

  'account.set_plan': ({ current, changes }) => ({ attributes: setPlan(current, changes.plan, plans) }),

  'account.revise': async ({ tx, current, changes, actor }) => {
    if (changes.email !== undefined && changes.email !== current.email) {
      // Invitations to an address belong to the account that has it: only a mail that was answered proves an address.
      if (actor.kind === 'principal')
        throw new Problem('permission_denied', 'The address of an account follows that of its owner.');
      assertEmailFree(changes.email, await isEmailTaken(tx, changes.email));
    }
    return { attributes: { ...current, ...changes } };
  },

  'account.assign_owner': async ({ tx, current, changes }) => {
    const user = await findAnywhere(tx, 'users', changes.owner_user_id);
    if (user?.lifecycle_state !== 'active') {
      const detail = `There is no user ${changes.owner_user_id}.`;
      throw new Problem('validation_failed', detail, {
        errors: [{ path: '/changes/owner_user_id', code: 'unknown_user', detail }],
      });
    }
    return { attributes: { ...current, ...changes } };
  },
});
