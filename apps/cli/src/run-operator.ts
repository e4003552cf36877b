import type { FleetAccess } from '@longwave/fleet/running';
import { explainedFailure, readCommandLine, type CommandLine } from './command-line.ts';
import type { OperatorCommand } from './command.ts';
import { fleetOn } from './find-fleet.ts';
import {
  brokersOf,
  chooseFollowers,
  openBus,
  type BusAccess,
  type BusCommand,
} from './operator/dead-letter-commands.ts';
import { followersOf } from './status/check-lags.ts';
import { readSamples } from './status/check-services.ts';

type CommandToRun = Extract<CommandLine, { kind: 'run' }>;

async function runOnFleet(
  fleet: FleetAccess,
  { command, options, json }: CommandToRun & { readonly command: OperatorCommand },
): Promise<void> {
  const { openOperator } = await import('@longwave/test-kit/clients');
  const operator = openOperator(fleet);
  try {
    const found = await command.run(operator, options, fleet);
    console.log(json || !command.linesOf ? JSON.stringify(found, null, 2) : command.linesOf(found).join('\n'));
  } finally {
    operator.close();
  }
}

async function runOnBus(
  access: BusAccess,
  fleet: FleetAccess | undefined,
  { command, options, json }: CommandToRun & { readonly command: BusCommand },
): Promise<void> {
  const followers = await chooseFollowers(options, async () => (fleet ? followersOf(await readSamples(fleet)) : []));
  await using bus = await openBus(access);
  const found = await command.runOnBus(bus, followers);
  console.log(json ? JSON.stringify(found, null, 2) : found.flatMap(command.linesOf).join('\n'));
}

/** Answers false when no service runs and the command needs one. */
async function runCommand(line: CommandToRun): Promise<boolean> {
  const { command, options, data } = line;
  const fleet = fleetOn(data);
  if ('runOnBus' in command) {
    const { brokers } = options;
    const access = brokers ? brokersOf(brokers, process.env) : fleet;
    if (!access) return false;
    await runOnBus(access, fleet, { ...line, command });
    return true;
  }
  if (fleet) await runOnFleet(fleet, { ...line, command });
  return fleet !== undefined;
}

/** Runs a command of the operator, or explains one; answers the exit code. */
export async function runOperator(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args.filter((each, index) => index > 0 || each !== ''));
  if (line.kind === 'explain') {
    console.log(line.text);
    return 0;
  }
  try {
    if (await runCommand(line)) return 0;
  } catch (error) {
    throw explainedFailure(line.command, error as Error);
  }
  console.error(
    'No service is running on this data folder. Start it with `npm start`, in another terminal, or name another data folder: --data FOLDER',
  );
  return 1;
}
