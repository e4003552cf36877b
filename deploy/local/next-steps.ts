import { existsSync } from 'node:fs';
import path from 'node:path';
import { defaultDataFolder, type FleetAccess, type PublicPorts, type PublicUrls } from '@longwave/fleet';
import { renderListenAddress } from '@longwave/service-kit';
import { services } from '@longwave/services';

/** How a command in another terminal finds the installation on a data folder: it needs no option for that of `npm start`. */
export function dataOptionOf(folder: string): string {
  if (folder === defaultDataFolder) return '';
  const word = /^[\w@%+=:,./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", String.raw`'\''`)}'`;
  return ` --data ${word}`;
}

const describeSteps = (steps: readonly (readonly [command: string, effect: string])[]): string => {
  const width = Math.max(...steps.map(([command]) => command.length));
  return steps.map(([command, effect]) => `  ${command.padEnd(width)}  ${effect}`).join('\n');
};

/** Whether there is a build of the web application, which rest-gateway serves. `filesFolder` is where the paths of its files begin. */
export const isConsoleBuilt = (filesFolder: string): boolean =>
  existsSync(path.join(filesFolder, services['rest-gateway'].files?.['CONSOLE_FOLDER'] ?? '', 'index.html'));

/** Where a proxy in front of the installation sends the requests for each public address. */
export function describeProxied(urls: PublicUrls, listen: string, ports: PublicPorts): string {
  const rows = [
    [urls.base, ports.base],
    [urls.mcp, ports.mcp],
    [urls.api, ports.api],
    [urls.media, ports.media],
    [urls.objects, ports.objectStore],
  ] as const;
  const width = Math.max(...rows.map(([url]) => url.length));
  const lines = rows.map(([url, port]) => `  ${url.padEnd(width)}  ${renderListenAddress({ host: listen, port })}`);
  return `\nThe proxy in front (docs/self-hosting.md) passes requests on, with their Host header:\n\n${lines.join('\n')}`;
}

/** The text that `npm start` prints once everything runs: every address, the page to open, the next three commands, and the tour. */
export const describeRunning = ({
  urls,
  dataFolder,
  databaseFolder,
  logsFolder,
  mailFolder,
  dataOption,
  hasConsole,
}: Pick<FleetAccess, 'urls' | 'dataFolder'> & {
  readonly databaseFolder: string;
  readonly logsFolder: string;
  readonly mailFolder: string;
  readonly dataOption: string;
  /** Whether the web application was built. */
  readonly hasConsole: boolean;
}) => `
Longwave is running.
${hasConsole ? `\nOpen ${urls.base}/ and sign up.\n` : ''}
  REST API       ${urls.base}/api/v1
  documentation  ${urls.base}/api-docs
  ad server APIs ${urls.api}
  agents (MCP)   ${urls.mcp}/mcp
  feeds, audio   ${urls.media}
  data           ${dataFolder}
  database       ${databaseFolder}
  logs           ${logsFolder}
  mails          ${mailFolder}

${hasConsole ? 'Or go on' : `Sign up at ${urls.base}/sign-up, and go on`} in another terminal:

${describeSteps([
  [`npm run longwave -- account create --name "My podcasts"${dataOption}`, 'an account with its API key'],
  [`npm run demo -- --audio FILE${dataOption}`, 'your own recording, from upload to a counted download'],
  ['npm run longwave -- --help', 'everything an operator can do'],
])}

docs/api-tour.md is a tour of the REST API with that account; docs/README.md lists all pages.

Ctrl-C stops everything.
`;

/**
 * How to go on with the account that a demo made. The key is named on a terminal only: elsewhere the text becomes part of a log.
 */
export const describeAccount = (
  account: { readonly accountId: string; readonly apiKey: string },
  { isTerminal, dataOption }: { readonly isTerminal: boolean; readonly dataOption: string },
) =>
  isTerminal
    ? `  account ${account.accountId}\n  API key ${account.apiKey}`
    : `  account ${account.accountId}; a key of your own: npm run longwave -- key create --account ${account.accountId}${dataOption}`;
