/** `npx longwave …` and `npm run longwave -- …`: what an operator does by hand on the fleet of `npm start`. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { dataFolder, defaultDataFolder, findRunningFleet, workspaceRoot, type FleetAccess } from '@longwave/fleet';
import { openOperator } from '@longwave/test-kit/clients';
import { explainedFailure, readCommandLine, readToolLine, type ToolLine } from './command-line.ts';
import { UsageError, type OperatorCommand, type Options } from './command.ts';
import type { Command } from './commands.ts';
import { openBus, type BusCommand } from './operator/dead-letter-commands.ts';

/** The fleet that runs on a folder, by default on that of `npm start`. */
const fleetOn = (data: string | undefined) =>
  findRunningFleet(dataFolder(data === undefined ? defaultDataFolder : path.resolve(data)));

async function runOnFleet(fleet: FleetAccess, command: OperatorCommand, options: Options): Promise<void> {
  const operator = openOperator(fleet);
  try {
    console.log(JSON.stringify(await command.run(operator, options, fleet), null, 2));
  } finally {
    operator.close();
  }
}

async function runOnBus(redisUrl: string, command: BusCommand, options: Options): Promise<void> {
  await using bus = await openBus(options['brokers'], redisUrl);
  for (const line of await command.runOnBus(bus, options)) console.log(line);
}

/** Answers false when no service runs and the command needs one. */
async function runCommand(command: Command, options: Options, data: string | undefined): Promise<boolean> {
  const fleet = fleetOn(data);
  if ('runOnBus' in command) {
    if (!fleet && !options['brokers']) return false;
    await runOnBus(fleet?.redisUrl ?? '', command, options);
    return true;
  }
  if (fleet) await runOnFleet(fleet, command, options);
  return fleet !== undefined;
}

/** Runs a tool on the database of DATABASE_URL and the installation of LONGWAVE_URL, by default the running fleet; answers its exit code. */
function runTool({ script, args, data }: ToolLine): Promise<number> {
  const fleet = fleetOn(data);
  const databaseUrl = process.env['DATABASE_URL'] ?? fleet?.databaseUrls['audience'];
  const child = spawn(process.execPath, [path.join(workspaceRoot, script), ...args], {
    stdio: 'inherit',
    env: {
      ...process.env,
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
      ...(fleet && { LONGWAVE_URL: process.env['LONGWAVE_URL'] ?? fleet.urls.base }),
    },
  });
  // Ctrl-C reaches the tool by itself; it then removes its temporary files.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

async function main(args: readonly string[]): Promise<number> {
  const tool = readToolLine(args);
  if (tool) return runTool(tool);
  const line = readCommandLine(args.filter((each, index) => index > 0 || each !== ''));
  if (line.kind === 'explain') {
    console.log(line.text);
    return 0;
  }
  try {
    if (await runCommand(line.command, line.options, line.data)) return 0;
  } catch (error) {
    throw explainedFailure(line.command, error as Error);
  }
  console.error(
    'No service is running on this data folder. Start it with `npm start`, in another terminal, or name another data folder: --data FOLDER',
  );
  return 1;
}

process.exitCode = await main(process.argv.slice(2)).catch((error: Error) => {
  console.error(error.message);
  return error instanceof UsageError ? 64 : 1;
});
