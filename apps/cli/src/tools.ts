/** A program of its own, with its own arguments, help and exit codes. */
export interface Tool {
  /** Path from the root of the repository. */
  readonly script: string;
  readonly usage: string;
  readonly summary: string;
}

export const tools: Readonly<Record<string, Tool>> = {
  status: {
    script: 'apps/cli/src/status/main.ts',
    usage: '[--max-backup-age HOURS] [--json]',
    summary: 'Shows whether the running service is well: services, engines, lags, disk, certificates, backup.',
  },
  logs: {
    script: 'apps/cli/src/logs/main.ts',
    usage: '[SERVICE] [--request ID] [--since TIME] [--level LEVEL] [--lines N] [--follow] [--json]',
    summary: 'Shows the log of a service, or of all in the order of time, also of one request alone.',
  },
  doctor: {
    script: 'apps/cli/src/doctor/main.ts',
    usage: '[--config FILE | --environment FILE] [--port-base N] [--json]',
    summary: 'Looks at everything that a deployment on this machine needs, and says what to do about what is wrong.',
  },
  backup: {
    script: 'apps/cli/src/backup/main.ts',
    usage: 'FOLDER | verify FOLDER | list FOLDER',
    summary: 'Makes a backup while the service runs, or verifies one.',
  },
  restore: {
    script: 'apps/cli/src/restore/main.ts',
    usage: 'FOLDER --data NEW [--backup NAME] [--json]',
    summary: 'Makes a data folder of a backup and verifies it.',
  },
  sweep: {
    script: 'apps/cli/src/sweep/main.ts',
    usage: '[--dry-run] [--hours N] [--json]',
    summary: 'Removes stored files that nothing names any more.',
  },
  upgrade: {
    script: 'apps/cli/src/upgrade/main.ts',
    usage: '[--check] [--back] [--unit NAME] [--max-backup-age HOURS | --without-backup] [--json] [-- OPTIONS]',
    summary: 'Takes the running service over to the release of this folder, migrations first.',
  },
  keys: {
    script: 'apps/cli/src/keys/main.ts',
    usage: 'list | rotate NAME… [--finish [--now]]',
    summary: 'Shows every key and secret, and replaces one while the service runs.',
  },
  login: {
    script: 'apps/cli/src/sign-in/login.ts',
    usage: '[--for mcp|management] [--url BASE_URL] [--scope "SCOPES"]',
    summary: 'Signs in as a person, in the browser.',
  },
  whoami: {
    script: 'apps/cli/src/sign-in/whoami.ts',
    usage: '',
    summary: 'Shows where this program is signed in, and for which account.',
  },
  logout: {
    script: 'apps/cli/src/sign-in/logout.ts',
    usage: '',
    summary: 'Ends the sign-ins of this program.',
  },
  manage: {
    script: 'apps/cli/src/manage/main.ts',
    usage:
      'types | commands | list | get | history | diff | run | watch | upload | result | decisions | trace | changes | receipts',
    summary: 'Works with campaigns and everything else through the Management API.',
  },
  exchange: {
    script: 'apps/cli/src/exchange/main.ts',
    usage:
      'key new | snapshot | revoke | capability | alias | evidence | rotate | compare | resolve | head | mapping | intents | acknowledge | export | checkpoint | verify | submit',
    summary: 'Speaks for a hosting platform in the Hosting Exchange.',
  },
  mcp: {
    script: 'apps/cli/src/sign-in/mcp.ts',
    usage: '',
    summary: 'Connects an agent that speaks MCP over standard input and output.',
  },
  receipts: {
    script: 'apps/cli/src/verify-receipts.ts',
    usage: 'verify FILE --keys URL|FILE [--checkpoint FILE]',
    summary: 'Checks an exported chain of receipts without the service.',
  },
  billing: {
    script: 'apps/cli/src/billing/main.ts',
    usage: 'verify STATEMENT [--workspace WS] [--document FILE] [--json]',
    summary: 'Computes a billing statement again from the ledger and compares it with what was issued, byte for byte.',
  },
  hls: {
    script: 'apps/cli/src/hls/main.ts',
    usage: 'check URL [--profile apple|general] [--all] [--user-agent TEXT] [--json]',
    summary: 'Says what is wrong with an HLS stream of any host, by the rules of Apple Podcasts.',
  },
  recount: {
    script: 'apps/audience-tools/src/cli/recount.ts',
    usage: 'export | count | compare',
    summary: 'Counts exported facts again and compares the result with what the service shows.',
  },
  'import-log': {
    script: 'apps/audience-tools/src/cli/import-log.ts',
    usage: 'FILE… --report | --store',
    summary: 'Counts the requests in the access log of a prefix service or another host.',
  },
};
