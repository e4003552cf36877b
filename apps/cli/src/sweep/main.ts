/** `longwave sweep`: removes objects that nothing names. */
import { createObjectStore } from '@longwave/object-store';
import { lockObjects } from '../backup/lock-folder.ts';
import { progressLine } from '../checks/progress-line.ts';
import { assertNoWords, runOperations } from '../checks/run-operations.ts';
import { describeBytes } from '../checks/sizes.ts';
import { typed, UsageError } from '../command.ts';
import { dataFolderOfTool, fleetOn } from '../find-fleet.ts';
import { findNamed } from './find-named.ts';
import { sweepObjects } from './sweep-objects.ts';

const minHours = 48;

const usage = `${typed} sweep [--dry-run] [--hours N] [--json] [--data FOLDER]

Removes stored files that nothing names any more: audio of encodings that failed, and of what was replaced before anybody heard it,
artwork, transcripts, exports and fetched feeds. A file that a resource or an earlier version of it, a job, an arrangement that was delivered or
anything else in the database names stays, and so does each that was stored in the last hours. Files are moved to removed/ first; the next sweep
after as many hours removes them for good, or moves those back that something names again. Run it daily; it may be interrupted.

  --dry-run      optional: says what would be removed, and removes nothing
  --hours N      optional: hours for which a file stays in any case (default and least: ${minHours})
  --json         optional: print one JSON document
  --data FOLDER  optional: data folder of the running service (default: .longwave)

Exit code: 0 when all files were looked at, 1 when the sweep failed, 2 when the command line is wrong.

Examples:
  ${typed} sweep --dry-run
  ${typed} sweep`;

function parseHours(text: string | undefined): number {
  if (text === undefined) return minHours;
  if (!/^\d{1,5}$/.test(text) || Number(text) < minHours)
    throw new UsageError(`--hours is a whole number, ${minHours} at least.`);
  return Number(text);
}

async function sweep(hours: number, isDryRun: boolean, json: boolean | undefined): Promise<number> {
  const fleet = fleetOn(dataFolderOfTool());
  if (!fleet)
    throw new Error(
      'No service is running on this data folder. Start it with `npm start`, in another terminal, or name another data folder: --data FOLDER',
    );
  using _lock = lockObjects(fleet.dataFolder);
  using progress = progressLine(process.stderr);
  const found = await sweepObjects({
    store: createObjectStore(fleet.objectStore),
    findNamed: (digests) => findNamed(fleet.adminDatabaseUrl, digests),
    before: new Date(Date.now() - hours * 3_600_000),
    isDryRun,
    onSeen: (count) => progress.tell(`objects: ${count}`),
  });
  progress.end();
  if (json) {
    const { movedBytes, removedBytes, ...counts } = found;
    console.log(
      JSON.stringify(
        { dry_run: isDryRun, hours, ...counts, moved_bytes: movedBytes, removed_bytes: removedBytes },
        null,
        2,
      ),
    );
    return 0;
  }
  const verb = isDryRun ? 'would be ' : '';
  console.log(
    [
      `Looked at ${found.seen} files: ${found.young} are younger than ${hours} hours; of the others, ${found.named} are named.`,
      '',
      `  ${verb}moved to removed/   ${found.moved}, ${describeBytes(found.movedBytes)}`,
      `  ${verb}removed for good    ${found.removed}, ${describeBytes(found.removedBytes)}`,
      `  ${verb}moved back          ${found.restored}`,
    ].join('\n'),
  );
  return 0;
}

await runOperations(
  {
    usage,
    options: { 'dry-run': { type: 'boolean' }, hours: { type: 'string' }, json: { type: 'boolean' } },
  },
  async ({ 'dry-run': isDryRun, hours, json }, words) => {
    assertNoWords(words);
    return sweep(parseHours(hours), isDryRun === true, json);
  },
);
