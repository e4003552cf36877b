import type { Attributes, ChangesOf } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import type { Plan, Plans } from '../plans.ts';

type Account = Attributes<'accounts'>;
type Changes = ChangesOf<'account.create'>;

const refused = (path: string, code: string, detail: string) =>
  new Problem('validation_failed', detail, { errors: [{ path, code, detail }] });

function planOf(plans: Plans, name: string): Plan {
  const plan = plans.get(name);
  if (plan) return plan;
  throw refused(
    '/changes/plan',
    'unknown_plan',
    `There is no plan “${name.slice(0, 64)}”. The plans are ${[...plans.keys()].join(', ')}.`,
  );
}

const openPlans = (plans: Plans): string => [...plans].flatMap(([name, { open }]) => (open ? [name] : [])).join(', ');

/** Throws `value_taken` when another account has the e-mail address. */
export function assertEmailFree(email: string, isTaken: boolean): void {
  if (!isTaken) return;
  const detail = `Another account has the e-mail address “${email}”. Choose another address, or use that account: it is in the list of accounts.`;
  throw new Problem('value_taken', detail, { errors: [{ path: '/changes/email', code: 'value_taken', detail }] });
}

/** A new account on a plan that is open to new accounts; its subscription is active unless the operator says otherwise. */
export function createAccount(changes: Changes, plans: Plans): Account {
  const plan = planOf(plans, changes.plan);
  if (!plan.open)
    throw refused(
      '/changes/plan',
      'plan_closed',
      `The plan “${changes.plan}” is closed to new accounts. Choose one of ${openPlans(plans)}.`,
    );
  return {
    name: changes.name,
    ...(changes.email !== undefined && { email: changes.email }),
    ...(changes.owner_user_id !== undefined && { owner_user_id: changes.owner_user_id }),
    plan: changes.plan,
    encoding_ms_per_month: plan.encoding_ms_per_month,
    subscription: changes.subscription ?? { state: 'active' },
  };
}

/** The account on another plan, with that plan's encoding time. */
export function setPlan(account: Account, planName: string, plans: Plans): Account {
  return { ...account, plan: planName, encoding_ms_per_month: planOf(plans, planName).encoding_ms_per_month };
}

/** Throws when the workspace has an account already: each has one. */
export function assertUnoccupied(accountsOfWorkspace: number): void {
  if (accountsOfWorkspace > 0)
    throw refused('/workspace_id', 'workspace_occupied', 'This workspace belongs to another account.');
}
