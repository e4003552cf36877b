import { isProblem } from '@longwave/problems';
import type { SendCommand } from '../send-command.ts';

/** Revokes a credential on behalf of this service. One that was revoked meanwhile, as by a form that was sent twice, is no failure. */
export async function revokeCredential(send: SendCommand, workspaceId: string, id: string): Promise<void> {
  await send('credential.revoke', workspaceId, id, {}).catch((problem: unknown) => {
    if (!isProblem(problem, 'state_not_allowed')) throw problem;
  });
}
