import { accountCommands } from './operator/account-commands.ts';
import { clientCommands } from './operator/client-commands.ts';
import type { OperatorCommand } from './command.ts';
import { credentialCommands } from './operator/credential-commands.ts';
import { deadLetterCommands, type BusCommand } from './operator/dead-letter-commands.ts';
import { deliveryKeyCommands } from './operator/delivery-key-commands.ts';
import { forecastCommands } from './operator/forecast-commands.ts';
import { machineTokenCommands } from './operator/machine-token-commands.ts';
import { memberCommands } from './operator/member-commands.ts';
import { reviewCommands } from './operator/review-commands.ts';
import { servingModeCommands } from './operator/serving-mode-commands.ts';
import { streamCommands } from './operator/stream-commands.ts';
import { userCommands } from './operator/user-commands.ts';

export type Command = OperatorCommand | BusCommand;

/** Every command, in the order of its help. */
export const commands: readonly Command[] = [
  ...accountCommands,
  ...userCommands,
  ...credentialCommands,
  ...memberCommands,
  ...reviewCommands,
  ...streamCommands,
  ...deliveryKeyCommands,
  ...servingModeCommands,
  ...forecastCommands,
  ...machineTokenCommands,
  ...clientCommands,
  ...deadLetterCommands,
];
