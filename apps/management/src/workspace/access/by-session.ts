import { productCatalog, type CommandDefinition } from '@longwave/command-catalog';
import type { Actor } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';

const commandsByType: Readonly<Record<string, CommandDefinition>> = productCatalog.commands;

/**
 * Commands that give others access, or end a workspace: somebody with another person's session could do most harm with them. So could
 * one with a new secret, so commands that disclose one are refused too.
 */
const notBySession: readonly string[] = [
  'authority_grant.propose',
  'machine_key.register',
  'workspace.close',
] satisfies (keyof typeof productCatalog.commands)[];

/** Throws `permission_denied` for a command that sessions of browsers may not send, as nothing has asked for the password. */
export function assertSessionMaySend(commandType: string, actor: Actor): void {
  if (actor.kind !== 'principal' || actor.principal.credential_kind !== 'browser_session') return;
  if (notBySession.includes(commandType) || commandsByType[commandType]?.discloses)
    throw new Problem(
      'permission_denied',
      `A session of a browser cannot send ${commandType}: use a key of the account or an application.`,
    );
}
