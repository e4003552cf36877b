import { createAccount } from '../job/operator.ts';
import { needed, type OperatorCommand } from './command.ts';

/** Accounts: their plan and subscription. */
export const accountCommands: readonly OperatorCommand[] = [
  {
    name: 'account create',
    usage: '[--name NAME] [--email ADDRESS] [--plan PLAN]',
    summary: 'an account with an API key; the key is shown once',
    run: async (operator, { name, email, plan }) => {
      const account = await createAccount(operator, plan, {
        name: name ?? email ?? 'New account',
        ...(email && { email }),
      });
      return { account_id: account.accountId, workspace_id: account.workspaceId, api_key: account.apiKey };
    },
  },
  {
    name: 'account list',
    usage: '',
    summary: 'every account with its plan and subscription, oldest first',
    run: async (operator) => {
      const found = await operator.identityList(undefined, 'accounts');
      return found.map(({ id, workspace_id, lifecycle_state: state, attributes: { name, plan, subscription } }) => ({
        ...{ account_id: id, workspace_id, state, name, plan, subscription },
      }));
    },
  },
  {
    name: 'account show',
    usage: '--account ACC',
    summary: 'plan, subscription, credentials and members',
    run: async (operator, options) => {
      const {
        id,
        workspace_id,
        lifecycle_state: state,
        attributes,
      } = await operator.account(needed(options, 'account'));
      const shown = (type: string, leftOut: string) =>
        operator.identityList(workspace_id, type).then((found) =>
          found.map(({ id: each, lifecycle_state, attributes: { [leftOut]: _left, ...rest } }) => ({
            id: each,
            state: lifecycle_state,
            ...rest,
          })),
        );
      return {
        account_id: id,
        workspace_id,
        state,
        ...attributes,
        credentials: await shown('credentials', 'secret_digest'),
        members: await shown('memberships', 'owner_account_id'),
      };
    },
  },
  {
    name: 'account set-plan',
    usage: '--account ACC --plan PLAN',
    summary: 'moves an account to another plan',
    run: (operator, options) =>
      operator.changeIdentity(needed(options, 'account'), 'account.set_plan', { plan: needed(options, 'plan') }),
  },
  {
    name: 'account set-subscription',
    usage: '--account ACC --state STATE [--trial-ends-at TIME]',
    summary: 'trialing, active, past_due, canceled or suspended',
    run: (operator, options) =>
      operator.changeIdentity(needed(options, 'account'), 'account.set_subscription', {
        subscription: {
          state: needed(options, 'state'),
          ...(options['trial-ends-at'] && { trial_ends_at: options['trial-ends-at'] }),
        },
      }),
  },
];
