/** `longwave manage`: the Management API for people; it uses nothing but the public API. */
import { typed, UsageError } from '../command.ts';
import { liveSession } from '../sign-in/live-session.ts';
import { fail } from '../sign-in/read-options.ts';
import { openSessionFile } from '../sign-in/session-file.ts';
import { openManagementApi, type ManagementApi } from './management-api.ts';
import { diff, get, history, list, readWords, showCommands, showTypes, showWorkspaces } from './read-commands.ts';
import { writeResult } from './result.ts';
import { runCommand } from './run-command.ts';
import { upload } from './upload.ts';
import { watchOperation } from './watch.ts';
import { workspaceOf } from './workspace.ts';

const usage = `usage: ${typed} manage COMMAND [--workspace WS]

Works with the Management API as the person who signed in by \`${typed} login --for management\`.

  workspaces              the workspaces that you see, with your roles
  types                   the types of resources, with their states
  commands [TYPE]         the commands that there are, or those for one type
  list TYPE               resources of a type, as a table: --state S, --text T, --parent ID, --ids IDS, --sort KEY, --limit N, --all, --json
  get ID                  one resource, as JSON
  history ID              its versions, newest first
  diff ID                 what each version changed
  run COMMAND [ID]        changes something: ${typed} manage run campaign.create --help explains the fields of a command
  watch OPERATION         follows work that goes on, until it is over
  upload FILE             sends a file, and prints the ID of its upload
  result REPORT_RUN       the file of a report: --format csv|jsonl

  --workspace WS   which workspace, where you see several; or LONGWAVE_WORKSPACE in the environment
  --data FOLDER    optional: without effect, because the sign-in says which installation it belongs to

\`run\` takes --FIELD VALUE for every field, --json FILE for all of them (- reads standard input), --reason TEXT, --wait until the work
is over, --if-version N to insist on the version that you saw, --key KEY to repeat a command whose answer was lost, and --print FIELD
to print only one thing of the answer: id is that of the subject.`;

const tell = (line: string) => console.error(line);

async function watch(api: ManagementApi, args: readonly string[]): Promise<string> {
  const { positionals, values } = readWords(args, ['OPERATION'], {});
  const workspace = `/workspaces/${await workspaceOf(api, values.workspace)}`;
  return JSON.stringify(await watchOperation(api, workspace, positionals[0]!, tell), null, 2);
}

/** A command prints the text that it answers, or has written its own. */
type Command = (api: ManagementApi, args: readonly string[]) => Promise<string | void>;

const commands: Readonly<Record<string, Command>> = {
  workspaces: showWorkspaces,
  types: showTypes,
  commands: showCommands,
  list,
  get,
  history,
  diff,
  run: (api, args) => runCommand(api, args, tell),
  watch,
  upload: (api, args) => upload(api, args, tell),
  result: (api, args) => writeResult(api, args, process.stdout),
};

async function manage([name, ...args]: readonly string[]): Promise<void> {
  const isHelp = args.includes('--help') || args.includes('-h');
  if (name === undefined) throw new UsageError(usage);
  if (name === '--help' || name === '-h' || (isHelp && (name !== 'run' || args[0]?.startsWith('-'))))
    return console.log(usage);
  if (!Object.hasOwn(commands, name)) throw new UsageError(`There is no command “manage ${name}”.\n\n${usage}`);
  const file = openSessionFile();
  const api = openManagementApi(() => liveSession(file, 'management'), tell);
  const text = await commands[name]!(api, args);
  if (text !== undefined) console.log(text);
}

await manage(process.argv.slice(2)).catch(fail);
