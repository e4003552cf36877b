/** `longwave doctor`: whether a machine has what a deployment needs, and what to do where it has not. */
import { allWell, checksJson, renderChecks } from '../checks/check.ts';
import { checkDisk } from '../checks/check-disk.ts';
import { assertNoWords, runOperations } from '../checks/run-operations.ts';
import { typed } from '../command.ts';
import { dataFolderOfTool, fleetOn } from '../find-fleet.ts';
import { positiveNumber } from '../positive-number.ts';
import { checkAddresses } from './check-addresses.ts';
import { checkDatabase } from './check-database.ts';
import { checkMachine } from './check-machine.ts';
import { checkMail } from './check-mail.ts';
import { checkPrograms } from './check-programs.ts';
import { readStartSettings, type SettingsFinding } from './start-settings.ts';

const usage = `${typed} doctor [--config FILE] [--port-base N] [--json] [--data FOLDER]

Looks at everything that a deployment on this machine needs, and says what is wrong and what to do: Node, ffmpeg, ffprobe,
redis-server, PostgreSQL, disk, memory, clock, ports; the public addresses with their names and certificates; the mail server. It
changes nothing and needs no running service.

  --config FILE   optional: file with settings, as for npm start. Everything that is wrong in it is said, and the listening address,
                  ports, public addresses, mail server and data folder that it and the LONGWAVE_ variables name are looked at
  --port-base N   optional: as for npm start (default: 8080)
  --json          optional: print one JSON document
  --data FOLDER   optional: data folder (default: .longwave)

Without --config (or LONGWAVE_CONFIG), BASE_URL, MCP_URL, API_URL, MEDIA_URL and MAIL_URL of the environment are looked at when they are set; else the
addresses of the running service. DATABASE_URL is looked at when it is set.

Exit code: 0 when nothing is wrong, 1 when something is, 2 when the command line is wrong.

Example:
  ${typed} doctor --config /etc/longwave/settings.yaml`;

/** The public addresses and the mail server of the environment, or the addresses of the service that runs. */
function checkEnvironment(fleet: ReturnType<typeof fleetOn>) {
  const {
    BASE_URL = fleet?.urls.base,
    MCP_URL = fleet?.urls.mcp,
    API_URL = fleet?.urls.api,
    MEDIA_URL = fleet?.urls.media,
    MAIL_URL,
  } = process.env;
  return Promise.all([checkAddresses({ BASE_URL, MCP_URL, API_URL, MEDIA_URL }), checkMail('MAIL_URL', MAIL_URL)]);
}

/** The same of settings; nothing where something is wrong with these. */
async function checkSettings({ settings }: SettingsFinding) {
  if (settings === undefined) return [];
  const { urls, mail_url: mail } = settings;
  const named = Object.entries(urls ?? {}).map(([host, url]) => [host === 'base' ? 'public_url' : `${host}_url`, url]);
  return Promise.all([
    checkAddresses(Object.fromEntries(named) as Record<string, string>),
    checkMail('mail_url', mail),
  ]);
}

await runOperations(
  { usage, options: { config: { type: 'string' }, 'port-base': { type: 'string' }, json: { type: 'boolean' } } },
  async ({ config = process.env['LONGWAVE_CONFIG'], 'port-base': portBase, json }, words) => {
    assertNoWords(words);
    const base = positiveNumber('port-base', portBase);
    const finding = config === undefined ? undefined : readStartSettings(config, base);
    const { settings } = finding ?? {};
    const folder = settings?.data ?? dataFolderOfTool();
    const fleet = fleetOn(folder);
    const started = settings && { host: settings.listen, base: settings.port_base };
    const listener = finding ? started : { host: '127.0.0.1', base: base ?? 8_080 };
    const { DATABASE_URL } = process.env;
    const checks = [
      ...(finding?.checks ?? []),
      ...checkPrograms(),
      ...(await checkMachine(listener, fleet !== undefined)),
      checkDisk('data', folder),
      ...(DATABASE_URL === undefined ? [] : await checkDatabase(DATABASE_URL)),
      ...(finding ? await checkSettings(finding) : await checkEnvironment(fleet)).flat(),
    ];
    console.log(json ? checksJson(checks, { data_folder: folder }) : renderChecks(checks));
    return allWell(checks) ? 0 : 1;
  },
);
