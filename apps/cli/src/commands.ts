import { accountCommands } from './operator/account-commands.ts';
import { clientCommands } from './operator/client-commands.ts';
import type { OperatorCommand } from './command.ts';
import { credentialCommands } from './operator/credential-commands.ts';
import { deadLetterCommands, type BusCommand } from './operator/dead-letter-commands.ts';
import { deliveryKeyCommands } from './operator/delivery-key-commands.ts';
import { machineTokenCommands } from './operator/machine-token-commands.ts';
import { memberCommands } from './operator/member-commands.ts';
import { reviewCommands } from './operator/review-commands.ts';
import { userCommands } from './operator/user-commands.ts';

export type Command = OperatorCommand | BusCommand;

/** Every command, in the order of its help. */
export const commands: readonly Command[] = [
  ...accountCommands,
  ...userCommands,
  ...credentialCommands,
  ...memberCommands,
  ...reviewCommands,
  ...deliveryKeyCommands,
  ...machineTokenCommands,
  ...clientCommands,
  ...deadLetterCommands,
];

/** A program of its own, with its own arguments, help and exit codes. */
export interface Tool {
  /** Path from the root of the repository. */
  readonly script: string;
  readonly usage: string;
  readonly summary: string;
}

export const tools: Readonly<Record<string, Tool>> = {
  login: {
    script: 'apps/cli/src/sign-in/login.ts',
    usage: '[--for mcp|management] [--url BASE_URL] [--scope "SCOPES"]',
    summary: 'Signs in as a person, in the browser.',
  },
  whoami: {
    script: 'apps/cli/src/sign-in/whoami.ts',
    usage: '',
    summary: 'Shows where this program is signed in, and for which account.',
  },
  logout: {
    script: 'apps/cli/src/sign-in/logout.ts',
    usage: '',
    summary: 'Ends the sign-ins of this program.',
  },
  manage: {
    script: 'apps/cli/src/manage/main.ts',
    usage:
      'types | commands | list | get | history | diff | run | watch | upload | result | decisions | trace | changes | receipts',
    summary: 'Works with campaigns and everything else through the Management API.',
  },
  mcp: {
    script: 'apps/cli/src/sign-in/mcp.ts',
    usage: '',
    summary: 'Connects an agent that speaks MCP over standard input and output.',
  },
  receipts: {
    script: 'apps/cli/src/verify-receipts.ts',
    usage: 'verify FILE --keys URL|FILE [--checkpoint FILE]',
    summary: 'Checks an exported chain of receipts without the service.',
  },
  recount: {
    script: 'apps/audience-tools/src/cli/recount.ts',
    usage: 'export | count | compare',
    summary: 'Counts exported facts again and compares the result with what the service shows.',
  },
  'import-log': {
    script: 'apps/audience-tools/src/cli/import-log.ts',
    usage: 'FILE… --report | --store',
    summary: 'Counts the requests in the access log of a prefix service or another host.',
  },
};
