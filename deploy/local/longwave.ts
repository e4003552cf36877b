/** `npm run longwave -- …`: what an operator does by hand on the fleet of `npm start`. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createEventBus } from '@longwave/event-bus';
import { dataFolder, findRunningFleet, workspaceRoot, type FleetAccess } from '@longwave/fleet';
import { openOperator } from './job/operator.ts';
import { accountCommands } from './longwave/account-commands.ts';
import { UsageError, type OperatorCommand, type Options } from './longwave/command.ts';
import { credentialCommands } from './longwave/credential-commands.ts';
import { deliveryKeyCommands } from './longwave/delivery-key-commands.ts';
import { machineTokenCommands } from './longwave/machine-token-commands.ts';
import { memberCommands } from './longwave/member-commands.ts';
import { reviewCommands } from './longwave/review-commands.ts';

const commands: readonly OperatorCommand[] = [
  ...accountCommands,
  ...credentialCommands,
  ...memberCommands,
  ...reviewCommands,
  ...deliveryKeyCommands,
  ...machineTokenCommands,
];

/** Programs of their own, with arguments and exit codes of their own; by the folder of the repository. */
const tools: Readonly<Record<string, string>> = {
  recount: 'apps/analytics-sink/src/cli/recount.ts',
  'import-log': 'apps/analytics-sink/src/cli/import-log.ts',
};

const help = `usage: npm run longwave -- COMMAND

${commands.map(({ name, usage, summary }) => `  ${`${name} ${usage}`.trimEnd()}\n      ${summary}`).join('\n')}
  dead-letters list --topic TOPIC --group GROUP
      events a consumer failed to process
  dead-letters redrive --topic TOPIC --group GROUP
      sends them to that group again
  recount export | count | compare
      counts exported facts again and compares with what the service shows (recount COMMAND --help)
  import-log FILE… --report | --store
      counts the requests of a prefix service's or another host's log (import-log --help)

  --data FOLDER        data folder of the running fleet (default .longwave)
  --brokers HOST:PORT  dead letters of an Apache Kafka (comma-separated) instead of the fleet's Redis

Plans: launch, grow, scale, network (the default), classic; or those of your PLANS_FILE.
Topics and groups: product.events (management, public-delivery, internal-serving, auth-server),
identity.events (management, analytics-sink), delivery.facts (analytics-sink).`;

const text = { type: 'string' } as const;
const readArguments = () =>
  parseArgs({
    allowPositionals: true,
    options: {
      data: { type: 'string', default: '.longwave' },
      ...{ account: text, name: text, email: text, plan: text, state: text, 'trial-ends-at': text },
      ...{ key: text, scope: text, owner: text, member: text, membership: text, permissions: text },
      ...{ topic: text, group: text, brokers: text, week: text },
      ...{ producer: text, workspace: text, days: text, token: text },
      ...{ task: text, note: text },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });

async function runCommand(fleet: FleetAccess, command: OperatorCommand, options: Options): Promise<void> {
  const operator = openOperator(fleet);
  try {
    console.log(JSON.stringify(await command.run(operator, options, fleet), null, 2));
  } finally {
    operator.close();
  }
}

async function deadLetters(redisUrl: string, action: string | undefined, options: Options): Promise<void> {
  const { topic, group, brokers } = options;
  if (!topic || !group) throw new Error('Name --topic and --group.');
  await using bus = createEventBus(
    brokers
      ? { kind: 'kafka', brokers: brokers.split(','), clientId: 'operator' }
      : { kind: 'redis', redisUrl, clientName: 'operator' },
  );
  if (action === 'redrive') {
    console.log(`sent ${await bus.redriveDeadLetters(topic, group)} messages to ${group} again`);
    return;
  }
  const letters = await bus.listDeadLetters(topic, group);
  if (letters.length === 0) console.log(`no dead letters of ${group} in ${topic}`);
  for (const letter of letters)
    console.log(
      JSON.stringify({
        id: letter.message.id,
        type: letter.message.type,
        key: letter.message.key,
        failed_at: letter.failedAt,
        error: letter.error,
      }),
    );
}

/** Runs a tool on the database of DATABASE_URL, or of the running fleet; answers its exit code. */
function runTool(script: string, args: readonly string[]): Promise<number> {
  const fleet = findRunningFleet(dataFolder(path.resolve(workspaceRoot, '.longwave')));
  const databaseUrl = process.env['DATABASE_URL'] ?? fleet?.databaseUrls['audience'];
  const child = spawn(process.execPath, [path.join(workspaceRoot, script), ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }) },
  });
  // Ctrl-C reaches the tool by itself; it then removes its temporary files.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

async function main(): Promise<number> {
  const [tool = '', ...toolArguments] = process.argv.slice(2);
  const script = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
  if (script !== undefined) return runTool(script, toolArguments);
  const { values, positionals } = readArguments();
  const { help: asked, data, ...options } = values;
  const [noun, verb] = positionals;
  const name = [noun, verb].join(' ');
  if (asked || !noun) {
    console.log(help);
    return asked ? 0 : 64;
  }
  const command = commands.find((each) => each.name === name);
  if (!command && !['dead-letters list', 'dead-letters redrive'].includes(name)) {
    console.error(`There is no command "${name}".\n\n${help}`);
    return 64;
  }
  const fleet = findRunningFleet(dataFolder(path.resolve(workspaceRoot, data)));
  if (!command && options.brokers) {
    await deadLetters('', verb, options);
    return 0;
  }
  if (!fleet) {
    console.error('No service is running on this data folder. Start it with `npm start`, in another terminal.');
    return 1;
  }
  try {
    if (command) await runCommand(fleet, command, options);
    else await deadLetters(fleet.redisUrl, verb, options);
    return 0;
  } catch (error) {
    if (!command || !(error instanceof UsageError)) throw error;
    console.error(`${error.message}\nusage: npm run longwave -- ${command.name} ${command.usage}`);
    return 64;
  }
}

process.exitCode = await main().catch((error: Error) => {
  console.error(error.message);
  return 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS') ? 64 : 1;
});
