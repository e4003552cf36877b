/** `longwave keys`: every key and secret of an installation, and how each is replaced. */
import { existsSync } from 'node:fs';
import { dataFolder, keyNames, listKeys, type Installation, type KeyName, type KeyRow } from '@longwave/fleet';
import { findRunner } from '@longwave/fleet/running';
import { didYouMean } from '@longwave/service-kit/nearest';
import { assertNoWords, runOperations } from '../checks/run-operations.ts';
import { describeSeconds } from '../checks/sizes.ts';
import { typed, UsageError } from '../command.ts';
import { dataFolderOfTool, fleetOn } from '../find-fleet.ts';
import { changeKeys, finish, rotate } from './rotate.ts';

const usage = `${typed} keys list [--json] [--data FOLDER]
       ${typed} keys rotate NAME… [--finish [--now]] [--json] [--data FOLDER]

\`list\` shows every key and secret of the installation, when it was made and how many are accepted, never the key itself. \`rotate\` makes a
new one, which is used from then on; what was made with the one before goes on to count. \`rotate NAME --finish\` ends the one before, once
nothing needs it: before that it refuses and says why. The service may run, and loses no request; or it may be stopped.

  NAME           one or several of: ${keyNames.slice(0, 7).join(', ')},
                 ${keyNames.slice(7).join(', ')}
  --finish       optional: end the keys before the newest
  --now          optional, with --finish: end them although something still needs them, as after a leak
  --json         optional: print one JSON document
  --data FOLDER  optional: data folder of the service (default: .longwave)

Exit code: 0 when it was done, 1 when it was refused or failed, 2 when the command line is wrong.

Examples:
  ${typed} keys list
  ${typed} keys rotate delivery-tokens
  ${typed} keys rotate delivery-tokens --finish`;

const ageOf = (madeAt: string, now: Date) => describeSeconds((now.getTime() - Date.parse(madeAt)) / 1_000);

function describeRow({ name, purpose, made_at: madeAt, accepted, finish_from: from }: KeyRow, now: Date): string {
  const age = madeAt === undefined ? 'of unknown age' : `${ageOf(madeAt, now)} old`;
  const former = accepted > 1 ? `, ${accepted} accepted` : '';
  const until = from === undefined ? '' : `, the oldest until ${from.slice(0, 10)}`;
  return `  ${name.padEnd(16)} ${`${age}${former}${until}`.padEnd(24)}  ${purpose}`;
}

function list(folder: string, isJson: boolean): number {
  const rows = listKeys(dataFolder(folder));
  const now = new Date();
  if (isJson) console.log(JSON.stringify({ data_folder: folder, keys: rows }, null, 2));
  else console.log(rows.map((row) => describeRow(row, now)).join('\n'));
  return 0;
}

function nameOf(word: string): KeyName {
  const name = keyNames.find((each) => each === word);
  if (name !== undefined) return name;
  throw new UsageError(`There is no key “${word}”.${didYouMean(word, keyNames)}`);
}

/** The installation of a data folder. Throws where there is none, or one that neither runs nor is stopped. */
function installationOf(folder: string): Installation {
  const data = dataFolder(folder);
  if (!existsSync(data.secrets))
    throw new Error(`${folder} is not the data folder of an installation: name it with --data.`);
  const access = fleetOn(folder);
  if (!access && findRunner(data)) throw new Error('The service is starting or stopping. Try again when it runs.');
  return { data, access };
}

await runOperations(
  {
    usage,
    options: { finish: { type: 'boolean' }, now: { type: 'boolean' }, json: { type: 'boolean' } },
  },
  async ({ finish: isFinish = false, now: isForced = false, json = false }, [verb, ...words]) => {
    const installation = installationOf(dataFolderOfTool());
    if (verb === 'list') {
      assertNoWords(words);
      if (isFinish || isForced) throw new UsageError('--finish and --now belong to rotate.');
      return list(installation.data.root, json);
    }
    if (verb !== 'rotate')
      throw new UsageError(
        verb === undefined
          ? 'Say list or rotate.'
          : `There is no “keys ${verb}”.${didYouMean(verb, ['list', 'rotate'])}`,
      );
    if (words.length === 0) throw new UsageError('NAME is missing: the key to rotate, as `keys list` shows it.');
    if (isForced && !isFinish) throw new UsageError('--now belongs to --finish.');
    const names = [...new Set(words.map(nameOf))];
    const done = await changeKeys(names, installation, (name) =>
      isFinish ? finish(name, installation, isForced) : rotate(name, installation),
    );
    if (json) console.log(JSON.stringify({ keys: done.map(({ row }) => row) }, null, 2));
    else console.log(done.map(({ text }) => text).join('\n\n'));
    return 0;
  },
);
