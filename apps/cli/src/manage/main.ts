/** `longwave manage`: the Management API for people; it uses nothing but the public API. */
import { didYouMean } from '@longwave/service-kit/nearest';
import { UsageError } from '../command.ts';
import { liveSession } from '../sign-in/live-session.ts';
import { fail } from '../sign-in/read-options.ts';
import { openSessionFile } from '../sign-in/session-file.ts';
import { manageCommands, tell } from './commands.ts';
import { helpOfManage, manageHelp } from './help.ts';
import { openManagementApi } from './management-api.ts';

const usage = manageHelp(manageCommands);

async function manage([name, ...args]: readonly string[]): Promise<void> {
  if (name === undefined) throw new UsageError(usage);
  if (name === '--help' || name === '-h') return console.log(usage);
  const command = manageCommands.find((each) => each.name === name);
  if (!command) {
    const names = manageCommands.map((each) => each.name);
    throw new UsageError(`There is no command “manage ${name}”.${didYouMean(name, names)}\n\n${usage}`);
  }
  const isHelp = args.includes('--help') || args.includes('-h');
  // The help of a command of the catalog needs the catalog.
  if (isHelp && (name !== 'run' || args[0]!.startsWith('-'))) return console.log(helpOfManage(command));
  const file = openSessionFile();
  const api = openManagementApi(() => liveSession(file, 'management'), tell);
  const text = await command.run(api, args);
  if (text !== undefined) console.log(text);
}

await manage(process.argv.slice(2)).catch(fail);
