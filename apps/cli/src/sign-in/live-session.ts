import { typed } from '../command.ts';
import type { Session, SessionFile, SignInApi } from './session-file.ts';
import { renew } from './sign-in.ts';

/** The sign-in of an API as it was stored. Throws when there is none. */
export function storedSession(file: SessionFile, api: SignInApi): Session {
  const session = file.read(api);
  if (!session) throw new Error(`You are not signed in for ${api}. Sign in: ${typed} login --for ${api}`);
  return session;
}

/** The sign-in of an API with an access token that is good for a while. Throws when there is none. */
export function liveSession(file: SessionFile, api: SignInApi): Promise<Session> {
  return file.exclusively(async () => {
    const session = storedSession(file, api);
    const live = await renew(api, session);
    if (live !== session) file.write(api, live);
    return live;
  });
}
