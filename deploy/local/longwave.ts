/** `npm run longwave -- …`: what an operator does by hand on the fleet of `npm start`. */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createEventBus } from '@longwave/event-bus';
import { dataFolder, findRunningFleet, workspaceRoot, type FleetAccess } from '@longwave/fleet';
import { createAccount, openOperator } from './job/operator.ts';

const help = `usage: npm run longwave -- COMMAND

  account create [--plan PLAN]                     an account with an API key; the key is shown once
  dead-letters list --topic TOPIC --group GROUP    messages that a follower could not handle
  dead-letters redrive --topic TOPIC --group GROUP sends them to that group again

  --data FOLDER        data folder of the running fleet (default .longwave)
  --brokers HOST:PORT  dead letters of an Apache Kafka (comma-separated) instead of the fleet's Redis

Topics and groups: product.events (management, public-delivery, internal-serving),
identity.events (management), delivery.facts (analytics-sink).`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    data: { type: 'string', default: '.longwave' },
    plan: { type: 'string', default: 'network' },
    topic: { type: 'string' },
    group: { type: 'string' },
    brokers: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

async function createAccountCommand(fleet: FleetAccess): Promise<void> {
  const operator = openOperator(fleet);
  try {
    const account = await createAccount(operator, values.plan);
    console.log(
      JSON.stringify(
        { account_id: account.accountId, workspace_id: account.workspaceId, api_key: account.apiKey },
        null,
        2,
      ),
    );
  } finally {
    operator.close();
  }
}

async function deadLetters(redisUrl: string, action: string | undefined): Promise<void> {
  const { topic, group, brokers } = values;
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

async function main(): Promise<number> {
  const [noun, verb] = positionals;
  const command = [noun, verb].join(' ');
  if (values.help || !noun) {
    console.log(help);
    return values.help ? 0 : 64;
  }
  if (!['account create', 'dead-letters list', 'dead-letters redrive'].includes(command)) {
    console.error(`There is no command "${command}".\n\n${help}`);
    return 64;
  }
  const fleet = findRunningFleet(dataFolder(path.resolve(workspaceRoot, values.data)));
  if (noun === 'dead-letters' && values.brokers) {
    await deadLetters('', verb);
    return 0;
  }
  if (!fleet) {
    console.error('No fleet runs on this data. Start it with `npm start`, in another terminal.');
    return 1;
  }
  if (noun === 'account') await createAccountCommand(fleet);
  else await deadLetters(fleet.redisUrl, verb);
  return 0;
}

process.exitCode = await main().catch((error: Error) => {
  console.error(error.message);
  return 1;
});
