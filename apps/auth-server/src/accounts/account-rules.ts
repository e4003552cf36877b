import type { identityCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import { countAccounts } from '../identity-table.ts';
import type { Plans } from '../plans.ts';
import { createAccount, refuseOccupied, setPlan } from './account.ts';

/** Loads what each rule needs and lets the pure functions decide. */
export const accountRules = (plans: Plans): Rules<typeof identityCatalog> => ({
  'account.create': async ({ tx, workspaceId, changes }) => {
    refuseOccupied(await countAccounts(tx, workspaceId));
    return { attributes: createAccount(changes, plans) };
  },
  'account.set_plan': ({ current, changes }) => ({ attributes: setPlan(current, changes.plan, plans) }),
});
