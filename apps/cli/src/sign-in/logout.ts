/** `longwave logout`: ends the sign-ins of this user. */
import { typed } from '../command.ts';
import { fail, ignoredData, readOptions } from './read-options.ts';
import { openSessionFile, signInApis } from './session-file.ts';
import { signOut } from './sign-in.ts';

const usage = `${typed} logout [--data FOLDER]

Ends the sign-ins of this program at their installations and removes them from the file.

${ignoredData}

Example:
  ${typed} logout`;

async function logout(): Promise<void> {
  const { help, json } = readOptions(usage, {});
  if (help) return console.log(usage);
  const file = openSessionFile();
  await file.exclusively(async () => {
    const ended = [];
    for (const api of signInApis) {
      const session = file.read(api);
      if (!session) continue;
      // Without an answer the tokens are gone here, and end there by themselves.
      const problem = await signOut(session).then(
        () => undefined,
        (error: Error) => `The installation did not answer (${error.message}); the tokens end there by themselves.`,
      );
      file.write(api, undefined);
      ended.push({ api, installation: session.issuer, ...(problem !== undefined && { problem }) });
    }
    if (json) return console.log(JSON.stringify(ended, null, 2));
    if (ended.length === 0) return console.log('You are not signed in.');
    for (const { api, installation, problem } of ended)
      console.log([`Signed out at ${installation} for ${api}.`, problem].filter(Boolean).join(' '));
  });
}

await logout().catch(fail);
