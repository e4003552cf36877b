import { newId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { ConfigError } from '@longwave/service-kit';
import type { Plans } from '../plans.ts';
import type { SendCommand } from '../send-command.ts';
import { asksForBootstrap } from '../oauth/asks-for-bootstrap.ts';
import { findFirstOwner } from '../users/user-table.ts';

const trialMs = 14 * 86_400_000;

interface Deps {
  readonly pool: Pool;
  readonly send: SendCommand;
  readonly plans: Plans;
  readonly clock: () => Date;
}

/**
 * The account of a person who signed up, on the first open plan as a trial. Its workspace is provisioned with it, unless the person signs
 * up for a program that provisions it.
 */
async function createAccount(
  { pool, send, plans, clock }: Deps,
  user: { readonly id: string; readonly workspaceId: string; readonly name: string; readonly email: string },
  returnTo: string,
): Promise<void> {
  const plan = [...plans].find(([, { open }]) => open)?.[0];
  if (plan === undefined) throw new ConfigError('The plan file has no plan that is open to new accounts.');
  const command = (await asksForBootstrap(pool, returnTo)) ? 'account.create_without_workspace' : 'account.create';
  await send(command, user.workspaceId, undefined, {
    ...{ name: user.name, email: user.email, plan, owner_user_id: user.id },
    subscription: { state: 'trialing', trial_ends_at: new Date(clock().getTime() + trialMs).toISOString() },
  });
}

/**
 * Makes a person with a verified address, and the account. Answers the user's id.
 * @param returnTo where the person goes on
 */
export const createCreatePerson =
  (deps: Deps) =>
  async (name: string, email: string, returnTo: string): Promise<string> => {
    const workspaceId = newId('ws');
    const { id } = await deps.send('user.create', workspaceId, undefined, { name, email, email_verified: true });
    await createAccount(deps, { id, workspaceId, name, email }, returnTo);
    return id;
  };

export type CreatePerson = ReturnType<typeof createCreatePerson>;

/** Gives a person the account that a sign-up was cut off before. Answers whether one was made. */
export const createFinishSignUp =
  (deps: Deps) =>
  async (userId: string, returnTo: string): Promise<boolean> => {
    const user = await findFirstOwner(deps.pool, userId);
    if (!user) return false;
    const { name, email } = user.attributes;
    await createAccount(deps, { id: user.id, workspaceId: user.workspaceId, name, email }, returnTo);
    return true;
  };

export type FinishSignUp = ReturnType<typeof createFinishSignUp>;
