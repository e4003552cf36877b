import { newId } from '@longwave/ids';
import { ConfigError } from '@longwave/service-kit';
import type { Plans } from '../plans.ts';
import type { SendCommand } from '../send-command.ts';

const trialMs = 14 * 86_400_000;

/** A person with a verified address, an account on the first open plan as a trial, and its workspace. Answers the user's id. */
export const createCreatePerson =
  ({ send, plans, clock }: { readonly send: SendCommand; readonly plans: Plans; readonly clock: () => Date }) =>
  async (name: string, email: string): Promise<string> => {
    const plan = [...plans].find(([, { open }]) => open)?.[0];
    if (plan === undefined) throw new ConfigError('The plan file has no plan that is open to new accounts.');
    const workspaceId = newId('ws');
    const user = await send('user.create', workspaceId, undefined, { name, email, email_verified: true });
    await send('account.create', workspaceId, undefined, {
      ...{ name, email, plan, owner_user_id: user.id },
      subscription: { state: 'trialing', trial_ends_at: new Date(clock().getTime() + trialMs).toISOString() },
    });
    return user.id;
  };

export type CreatePerson = ReturnType<typeof createCreatePerson>;
