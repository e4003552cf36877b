/** `longwave doctor`: whether a machine has what a deployment needs, and what to do where it has not. */
import { trustAuthority } from '@longwave/fleet/running';
import { allWell, checksJson, renderChecks, type Check } from '../checks/check.ts';
import { checkDisk } from '../checks/check-disk.ts';
import { assertNoWords, runOperations } from '../checks/run-operations.ts';
import { typed, UsageError } from '../command.ts';
import { dataFolderOfTool, fleetOn } from '../find-fleet.ts';
import { positiveNumber } from '../positive-number.ts';
import { checkAddresses } from './check-addresses.ts';
import { checkDependencies } from './check-dependencies.ts';
import { checkMachine } from './check-machine.ts';
import { checkMail } from './check-mail.ts';
import { checkPrograms } from './check-programs.ts';
import { readEnvironmentFile } from './deployment-environment.ts';
import { readStartSettings, type SettingsFinding } from './start-settings.ts';

const usage = `${typed} doctor [--config FILE | --environment FILE] [--port-base N] [--json] [--data FOLDER]

Looks at everything that a deployment on this machine needs, and says what is wrong and what to do: Node, ffmpeg, ffprobe,
redis-server, PostgreSQL, disk, memory, clock, ports; the public addresses with their names and certificates; the mail server. It
needs no running service, and changes nothing but an object of a few bytes that it puts into the object store and deletes.

  --config FILE       optional: file with settings, as for npm start. Everything that is wrong in it is said, and the listening address,
                      ports, public addresses, mail server and data folder that it and the LONGWAVE_ variables name are looked at
  --environment FILE  optional: file with the variables of a service, NAME=value, that runs elsewhere. Instead of this machine, what they
                      name is looked at: PostgreSQL, Redis, Kafka, object store, public addresses, mail server
  --port-base N       optional: as for npm start (default: 8080)
  --json              optional: print one JSON document
  --data FOLDER       optional: data folder (default: .longwave)

Of the environment, DATABASE_URL, REDIS_URL, KAFKA_BROKERS and S3_ENDPOINT with its keys are looked at when they are set; and without
--config (or LONGWAVE_CONFIG) BASE_URL, MCP_URL, API_URL, MEDIA_URL, S3_PUBLIC_ENDPOINT and MAIL_URL,
else the addresses of the running service.

Exit code: 0 when nothing is wrong, 1 when something is, 2 when the command line is wrong.

Examples:
  ${typed} doctor --config /etc/longwave/longwave.yaml
  ${typed} doctor --environment management.env`;

type Environment = Readonly<Record<string, string | undefined>>;

/** The public addresses of variables. */
const checkAddressesOf = ({ BASE_URL, MCP_URL, API_URL, MEDIA_URL, S3_PUBLIC_ENDPOINT }: Environment) =>
  checkAddresses({ BASE_URL, MCP_URL, API_URL, MEDIA_URL, S3_PUBLIC_ENDPOINT });

/** The variables of this process, with the addresses of the service that runs where there are none. */
function ownEnvironment(fleet: ReturnType<typeof fleetOn>): Environment {
  const { base: BASE_URL, mcp: MCP_URL, api: API_URL, media: MEDIA_URL } = fleet?.urls ?? {};
  return { BASE_URL, MCP_URL, API_URL, MEDIA_URL, ...process.env };
}

/** Checks the servers that a file with the variables of a service names. Throws a sentence when it cannot be read or names none. */
async function checkElsewhere(file: string): Promise<readonly Check[]> {
  const environment = readEnvironmentFile(file);
  const { NODE_EXTRA_CA_CERTS: authority } = environment;
  if (authority) trustAuthority(authority);
  const dependencies = await checkDependencies(environment);
  if (dependencies.length === 0)
    throw new Error(`${file} has none of DATABASE_URL, REDIS_URL, KAFKA_BROKERS and S3_ENDPOINT.`);
  // Of the services, auth-server alone sends mails.
  const { MAIL_URL } = environment;
  return [
    ...dependencies,
    ...(await checkAddressesOf(environment)),
    ...(MAIL_URL ? [await checkMail('MAIL_URL', MAIL_URL)] : []),
  ];
}

/** The public addresses and the mail server of settings; nothing where something is wrong with these. */
async function checkSettings({ settings }: SettingsFinding): Promise<readonly Check[]> {
  if (settings === undefined) return [];
  const { urls, mail_url: mail } = settings;
  const named = Object.entries(urls ?? {}).map(([host, url]) => [host === 'base' ? 'public_url' : `${host}_url`, url]);
  const addresses = Object.fromEntries(named) as Record<string, string>;
  return [...(await checkAddresses(addresses)), await checkMail('mail_url', mail)];
}

/** The public addresses and the mail server of variables. */
const checkOwnEnvironment = async (fleet: ReturnType<typeof fleetOn>): Promise<readonly Check[]> => [
  ...(await checkAddressesOf(ownEnvironment(fleet))),
  await checkMail('MAIL_URL', process.env['MAIL_URL']),
];

/** This machine, and what a start on it would need. */
async function checkHere(
  finding: SettingsFinding | undefined,
  folder: string,
  base = 8_080,
): Promise<readonly Check[]> {
  const fleet = fleetOn(folder);
  const { settings } = finding ?? {};
  const started = settings && { host: settings.listen, base: settings.port_base };
  return [
    ...(finding?.checks ?? []),
    ...checkPrograms(),
    ...(await checkMachine(finding ? started : { host: '127.0.0.1', base }, fleet !== undefined)),
    checkDisk('data', folder),
    ...(await checkDependencies(process.env)),
    ...(await (finding ? checkSettings(finding) : checkOwnEnvironment(fleet))),
  ];
}

const options = {
  config: { type: 'string' },
  environment: { type: 'string' },
  'port-base': { type: 'string' },
  json: { type: 'boolean' },
} as const;

await runOperations({ usage, options }, async ({ config, environment, 'port-base': portBase, json }, words) => {
  assertNoWords(words);
  const base = positiveNumber('port-base', portBase);
  if (environment !== undefined && (config ?? portBase) !== undefined)
    throw new UsageError(
      '--environment is about a service elsewhere, --config and --port-base are about this machine.',
    );
  const file = environment === undefined ? (config ?? process.env['LONGWAVE_CONFIG']) : undefined;
  const finding = file === undefined ? undefined : readStartSettings(file, base);
  const folder = finding?.settings?.data ?? dataFolderOfTool();
  const checks = environment === undefined ? await checkHere(finding, folder, base) : await checkElsewhere(environment);
  const head = environment === undefined ? { data_folder: folder } : { environment };
  console.log(json ? checksJson(checks, head) : renderChecks(checks));
  return allWell(checks) ? 0 : 1;
});
