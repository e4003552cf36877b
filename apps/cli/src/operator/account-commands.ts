import { accountOption, needed, type CommandOption, type OperatorCommand } from '../command.ts';

type Shown = Readonly<Record<string, unknown>>;

const planOption: CommandOption = {
  name: 'plan',
  value: 'PLAN',
  meaning: 'launch, grow, scale or network, or a plan of your PLANS_FILE (default: network)',
  optional: true,
};

/** Accounts: their plan and subscription. */
export const accountCommands: readonly OperatorCommand[] = [
  {
    name: 'account create',
    summary: 'Creates an account with an API key. The key is shown once.',
    options: [
      {
        name: 'name',
        value: 'NAME',
        meaning: 'name of the account (default: the e-mail address, else “New account”)',
        optional: true,
      },
      { name: 'email', value: 'ADDRESS', meaning: 'e-mail address, which no other account has', optional: true },
      planOption,
    ],
    example: 'account create --name "My podcasts" --email anna@example.org --plan grow',
    run: async (operator, { name, email, plan }) => {
      const { createAccount } = await import('@longwave/test-kit/clients');
      const { accountId, workspaceId, apiKey } = await createAccount(operator, plan, {
        name: name ?? email ?? 'New account',
        ...(email && { email }),
      });
      const { attributes } = await operator.account(accountId);
      return {
        account_id: accountId,
        workspace_id: workspaceId,
        name: attributes.name,
        email: attributes.email,
        plan: attributes.plan,
        api_key: apiKey,
      };
    },
  },
  {
    name: 'account create-without-workspace',
    summary: 'Creates an account whose owner lets a program provision its workspace by the Management API.',
    options: [
      { name: 'email', value: 'ADDRESS', meaning: 'e-mail address of the owner, which no other account has' },
      { name: 'name', value: 'NAME', meaning: 'name of the account (default: the e-mail address)', optional: true },
      planOption,
    ],
    example: 'account create-without-workspace --email anna@example.org --plan grow',
    run: async (operator, options) => {
      const email = needed(options, 'email');
      const { createAccountWithoutWorkspace } = await import('@longwave/test-kit/clients');
      const { id, workspace_id } = await createAccountWithoutWorkspace(operator, options['plan'], {
        ...{ name: options['name'] ?? email, email },
      });
      const { attributes } = await operator.account(id);
      return {
        ...{ account_id: id, workspace_id, name: attributes.name },
        ...{ email: attributes.email ?? email, plan: attributes.plan },
      };
    },
  },
  {
    name: 'account list',
    summary: 'Lists every account with its plan and subscription, oldest first.',
    options: [],
    example: 'account list',
    run: async (operator) => {
      const found = await operator.identityList(undefined, 'accounts');
      return found.map(({ id, workspace_id, lifecycle_state: state, attributes }) => {
        const { name, email, plan, subscription } = attributes;
        return { account_id: id, workspace_id, state, name, email, plan, subscription };
      });
    },
  },
  {
    name: 'account show',
    summary: 'Shows an account with its plan, subscription, members, and credentials other than ended sign-ins.',
    options: [accountOption],
    example: 'account show --account acc_01jcq7v8z4n2m6k9s3x5t1r0wd',
    run: async (operator, options) => {
      const {
        id,
        workspace_id,
        lifecycle_state: state,
        attributes,
      } = await operator.account(needed(options, 'account'));
      const shown = (type: string, leftOut: string) =>
        operator.identityList(workspace_id, type).then((found) =>
          found.map(({ id: each, lifecycle_state, attributes: { [leftOut]: _left, ...rest } }): Shown => ({
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
        credentials: (await shown('credentials', 'secret_digest')).filter(
          ({ state: each, ...credential }) => each !== 'revoked' || credential['kind'] !== 'browser_session',
        ),
        members: await shown('memberships', 'owner_account_id'),
      };
    },
  },
  {
    name: 'account set-plan',
    summary: 'Moves an account to another plan.',
    options: [
      accountOption,
      { name: 'plan', value: 'PLAN', meaning: 'launch, grow, scale, network or classic, or a plan of your PLANS_FILE' },
    ],
    example: 'account set-plan --account acc_01jcq7v8z4n2m6k9s3x5t1r0wd --plan scale',
    run: (operator, options) =>
      operator.changeIdentity(needed(options, 'account'), 'account.set_plan', { plan: needed(options, 'plan') }),
  },
  {
    name: 'account set-subscription',
    summary:
      'Records the state of a subscription, which decides whether the account’s keys and tokens work: suspended stops them, active lets them work.',
    options: [
      accountOption,
      { name: 'state', value: 'STATE', meaning: 'trialing, active, past_due, canceled or suspended' },
      {
        name: 'trial-ends-at',
        value: 'TIME',
        meaning: 'when a trial ends, like 2027-01-31T00:00:00Z',
        optional: true,
      },
    ],
    example: 'account set-subscription --account acc_01jcq7v8z4n2m6k9s3x5t1r0wd --state past_due',
    run: (operator, options) =>
      operator.changeIdentity(needed(options, 'account'), 'account.set_subscription', {
        subscription: {
          state: needed(options, 'state'),
          ...(options['trial-ends-at'] && { trial_ends_at: options['trial-ends-at'] }),
        },
      }),
  },
  {
    name: 'account close',
    summary: 'Closes an account: its credentials, sessions and tokens end at once. This cannot be undone.',
    options: [accountOption],
    example: 'account close --account acc_01jcq7v8z4n2m6k9s3x5t1r0wd',
    run: (operator, options) => operator.changeIdentity(needed(options, 'account'), 'account.close', {}),
  },
];
