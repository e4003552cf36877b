import type { identityCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import { countAccounts, isEmailTaken } from '../identity-table.ts';
import type { Plans } from '../plans.ts';
import { assertEmailFree, createAccount, assertUnoccupied, setPlan } from './account.ts';

/** Loads what each rule needs and lets the pure functions decide. */
export const accountRules = (
  plans: Plans,
): Pick<Rules<typeof identityCatalog>, 'account.create' | 'account.set_plan'> => ({
  'account.create': async ({ tx, workspaceId, changes }) => {
    assertUnoccupied(await countAccounts(tx, workspaceId));
    if (changes.email !== undefined) assertEmailFree(changes.email, await isEmailTaken(tx, changes.email));
    return { attributes: createAccount(changes, plans) };
  },
  'account.set_plan': ({ current, changes }) => ({ attributes: setPlan(current, changes.plan, plans) }),
});
