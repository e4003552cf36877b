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

const usage = `${typed} doctor [--port-base N] [--json] [--data FOLDER]

Looks at everything that a deployment on this machine needs, and says what is wrong and what to do: Node, ffmpeg, ffprobe,
redis-server, PostgreSQL, disk, memory, clock, ports; the public addresses with their names and certificates; the mail server. It
changes nothing and needs no running service.

  --port-base N   optional: as for npm start (default: 8080)
  --json          optional: print one JSON document
  --data FOLDER   optional: data folder (default: .longwave)

BASE_URL, MCP_URL, API_URL, MEDIA_URL, DATABASE_URL and MAIL_URL of the environment are looked at when they are set; else the addresses
and the database of the running service.

Exit code: 0 when nothing is wrong, 1 when something is, 2 when the command line is wrong.

Example:
  BASE_URL=https://pod.example MAIL_URL=smtps://user:secret@mail.example ${typed} doctor`;

await runOperations(
  { usage, options: { 'port-base': { type: 'string' }, json: { type: 'boolean' } } },
  async ({ 'port-base': portBase, json }, words) => {
    assertNoWords(words);
    const base = positiveNumber('port-base', portBase) ?? 8_080;
    const folder = dataFolderOfTool();
    const fleet = fleetOn(folder);
    const {
      BASE_URL = fleet?.urls.base,
      MCP_URL = fleet?.urls.mcp,
      API_URL = fleet?.urls.api,
      MEDIA_URL = fleet?.urls.media,
      DATABASE_URL,
      MAIL_URL,
    } = process.env;
    const checks = [
      ...checkPrograms(),
      ...(await checkMachine(base, fleet !== undefined)),
      checkDisk('data', folder),
      ...(DATABASE_URL === undefined ? [] : await checkDatabase(DATABASE_URL)),
      ...(await checkAddresses({ BASE_URL, MCP_URL, API_URL, MEDIA_URL })),
      await checkMail(MAIL_URL),
    ];
    console.log(json ? checksJson(checks, { data_folder: folder }) : renderChecks(checks));
    return allWell(checks) ? 0 : 1;
  },
);
