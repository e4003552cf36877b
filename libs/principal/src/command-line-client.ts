/**
 * The command line `longwave` as a client of the authorization server: public, registered in every installation, with one callback whose
 * port belongs to it.
 */
export const commandLineClient = {
  clientId: 'longwave-cli',
  redirectUri: 'http://127.0.0.1:28417/callback',
} as const;
