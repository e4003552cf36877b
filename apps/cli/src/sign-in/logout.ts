/** `longwave logout`: ends the sign-ins of this user. */
import { typed } from '../command.ts';
import { fail, ignoredData, readOptions } from './read-options.ts';
import { openSessionFile, signInApis } from './session-file.ts';
import { signOut } from './sign-in.ts';

const usage = `${typed} logout [--data FOLDER]

Ends the sign-ins of this program at their installations and removes them from the file.

${ignoredData}`;

async function logout(): Promise<void> {
  if (readOptions(usage, { help: { type: 'boolean', short: 'h' } }).help) return console.log(usage);
  const file = openSessionFile();
  await file.exclusively(async () => {
    const found = signInApis.flatMap((api) => {
      const session = file.read(api);
      return session ? [{ api, session }] : [];
    });
    if (found.length === 0) return console.log('You are not signed in.');
    for (const { api, session } of found) {
      // Without an answer the tokens are gone here, and end there by themselves.
      const problem = await signOut(session).then(
        () => '',
        (error: Error) => ` The installation did not answer (${error.message}); the tokens end there by themselves.`,
      );
      file.write(api, undefined);
      console.log(`Signed out at ${session.issuer} for ${api}.${problem}`);
    }
  });
}

await logout().catch(fail);
