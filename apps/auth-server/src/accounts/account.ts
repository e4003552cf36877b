import type { AttributesOf, ChangesOf, identityCatalog } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import type { Plan, Plans } from '../plans.ts';

type Account = AttributesOf<typeof identityCatalog, 'account.create'>;
type Changes = ChangesOf<typeof identityCatalog, 'account.create'>;

const refused = (path: string, code: string, detail: string) =>
  new Problem('validation_failed', detail, { errors: [{ path, code, detail }] });

function planOf(plans: Plans, name: string): Plan {
  const plan = plans.get(name);
  if (plan) return plan;
  throw refused(
    '/changes/plan',
    'unknown_plan',
    `There is no plan "${name.slice(0, 64)}": ${[...plans.keys()].join(', ')}.`,
  );
}

/** A new account on a plan that is open to new accounts; its subscription is active unless the operator says otherwise. */
export function createAccount(changes: Changes, plans: Plans): Account {
  const plan = planOf(plans, changes.plan);
  if (!plan.open)
    throw refused('/changes/plan', 'plan_closed', `The plan "${changes.plan}" is closed to new accounts.`);
  return {
    name: changes.name,
    ...(changes.email !== undefined && { email: changes.email }),
    plan: changes.plan,
    encoding_ms_per_month: plan.encoding_ms_per_month,
    subscription: changes.subscription ?? { state: 'active' },
  };
}

/** The account on another plan, with that plan's encoding time. */
export function setPlan(account: Account, planName: string, plans: Plans): Account {
  return { ...account, plan: planName, encoding_ms_per_month: planOf(plans, planName).encoding_ms_per_month };
}

/** One workspace per account: refuses a second account of a workspace. */
export function refuseOccupied(accountsOfWorkspace: number): void {
  if (accountsOfWorkspace > 0)
    throw refused('/workspace_id', 'workspace_occupied', 'This workspace belongs to another account.');
}
