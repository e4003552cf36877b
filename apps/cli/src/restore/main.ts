/** `longwave restore`: a data folder of a backup. */
import path from 'node:path';
import { chooseBackup } from '../backup/manifest.ts';
import { progressLine } from '../checks/progress-line.ts';
import { assertNoWords, runOperations } from '../checks/run-operations.ts';
import { typed, UsageError } from '../command.ts';
import { typedDataFolder } from '../find-fleet.ts';
import { restoreBackup } from './restore-backup.ts';

const usage = `${typed} restore FOLDER --data NEW [--backup NAME] [--json]

Makes a data folder of a backup, then verifies it: every object that a row names is there with its bytes, the chain of receipts of
every workspace is whole, and a recount of all facts gives the numbers that the service shows. Nothing is started: \`npm start -- --data NEW\`
does that, with the ports that the addresses in feeds have.

  FOLDER         the folder in which \`${typed} backup\` makes backups
  --data NEW     the data folder to make; it must not exist, or be empty
  --backup NAME  optional: name of a backup, as \`${typed} backup list FOLDER\` shows it (default: the newest)
  --json         optional: print one JSON document

Exit code: 0 when everything agrees, 1 when something does not or the restore failed, 2 when the command line is wrong.

Example:
  ${typed} restore /mnt/backups/longwave --data /srv/longwave`;

await runOperations(
  { usage, options: { backup: { type: 'string' }, json: { type: 'boolean' } } },
  async ({ backup: name, json }, [folder, ...words]) => {
    assertNoWords(words);
    if (folder === undefined) throw new UsageError('FOLDER is missing: the folder with the backups.');
    const target = typedDataFolder();
    if (target === undefined) throw new UsageError('--data is missing: the data folder to make.');
    const root = path.resolve(folder);
    const backup = chooseBackup(root, name);
    using progress = progressLine(process.stderr);
    const restored = await restoreBackup({ folder: root, backup, target, tell: progress.tell });
    progress.end();
    const { problems, ...found } = restored;
    if (json) console.log(JSON.stringify({ ...found, well: problems.length === 0, problems }, null, 2));
    else
      console.log(
        [
          `Restored ${backup} into ${target}, as it was at ${found.snapshot_at}.`,
          '',
          `  database   ${found.rows} rows in ${found.tables} tables`,
          `  objects    ${found.objects}`,
          `  messages   ${found.bus_messages} on the event bus`,
          `  verified   ${found.named_objects} names of objects in rows, ${found.receipts} receipts in ${found.receipt_chains} chains, ${found.recounted_numbers} numbers by a recount`,
          '',
          problems.length === 0 ? 'Everything agrees.' : `Not everything agrees:\n${problems.join('\n')}`,
        ].join('\n'),
      );
    return problems.length === 0 ? 0 : 1;
  },
);
