import { showAlerts } from './alerts.ts';
import { writeChanges } from './changes.ts';
import { showDecisions, showTrace } from './decisions.ts';
import { writeDocument } from './document.ts';
import { showFunnel } from './funnel.ts';
import { showItems } from './items.ts';
import type { ManagementApi } from './management-api.ts';
import { diff, get, history, list, showCommands, showTypes, showWorkspaces } from './read-commands.ts';
import { writeReceipts } from './receipts.ts';
import { writeResult } from './result.ts';
import { runCommand } from './run-command.ts';
import { upload } from './upload.ts';
import { watchOperation } from './watch.ts';
import { readWords } from './words.ts';
import { workspaceOf } from './workspace.ts';

/** One command of `longwave manage`. */
export interface ManageCommand {
  readonly name: string;
  /** Words and options after the name. */
  readonly usage: string;
  readonly summary: string;
  /** Words of a command line, without `npx longwave manage`. */
  readonly example: string;
  readonly options: readonly (readonly [option: string, meaning: string])[];
  /** Answers the text to print, or nothing where the command has written its own. */
  readonly run: (api: ManagementApi, args: readonly string[]) => Promise<string | void>;
}

/** Lines for the person, beside the result. */
export const tell = (line: string): void => console.error(line);

async function watch(api: ManagementApi, args: readonly string[]): Promise<string> {
  const { positionals, values } = readWords(args, ['OPERATION'], {});
  const workspace = `/workspaces/${await workspaceOf(api, values.workspace)}`;
  return JSON.stringify(await watchOperation(api, workspace, positionals[0]!, tell), null, 2);
}

const asJson = ['--json', 'as JSON'] as const;
const everyPage = ['--all', 'every page'] as const;

/** Every command, in the order of the help. */
export const manageCommands: readonly ManageCommand[] = [
  {
    name: 'workspaces',
    usage: '',
    example: 'workspaces',
    summary: 'the workspaces that you see, with your roles',
    options: [asJson],
    run: showWorkspaces,
  },
  {
    name: 'types',
    usage: '',
    example: 'types',
    summary: 'the types of resources, with their states',
    options: [asJson],
    run: showTypes,
  },
  {
    name: 'commands',
    usage: '[TYPE]',
    example: 'commands campaigns',
    summary: 'the commands that there are, or those for one type: campaigns, or operations',
    options: [asJson],
    run: showCommands,
  },
  {
    name: 'list',
    usage: 'TYPE',
    example: 'list campaigns --state active',
    summary: 'resources of a type, as a table',
    options: [
      ['--state STATE,…', 'only these states'],
      ['--text TEXT', 'only those whose name contains a text'],
      ['--parent ID', 'only those of a resource: the line items of a campaign'],
      ['--ids ID,…', 'only these'],
      ['--updated-since TIME', 'only those that changed since: 2026-12-01T00:00:00Z'],
      ['--sort KEY', 'created_at (the default), updated_at, state, name …; -KEY is downwards'],
      ['--limit N', 'rows of a page: 50, at most 200'],
      everyPage,
      asJson,
    ],
    run: list,
  },
  {
    name: 'get',
    usage: 'ID',
    example: 'get cmp_01jcq7v8z4n2m6k9s3x5t1r0wd',
    summary: 'one resource, operation (op_…) or receipt (rcp_…), as JSON',
    options: [],
    run: get,
  },
  {
    name: 'history',
    usage: 'ID',
    example: 'history cmp_01jcq7v8z4n2m6k9s3x5t1r0wd',
    summary: 'the versions of a resource, newest first',
    options: [asJson],
    run: history,
  },
  {
    name: 'diff',
    usage: 'ID',
    example: 'diff cmp_01jcq7v8z4n2m6k9s3x5t1r0wd',
    summary: 'what each version changed',
    options: [asJson],
    run: diff,
  },
  {
    name: 'run',
    usage: 'COMMAND [ID] [--FIELD VALUE …]',
    example: 'run advertiser.create --legal_name "Harbour Coffee" --print id',
    summary: 'changes something; --help after the command explains its fields',
    options: [
      ['--FIELD VALUE', 'a field of the command; a list takes it several times'],
      ['--json FILE', 'all fields as one JSON object; - reads standard input'],
      ['--reason TEXT', 'why, for the history'],
      [
        '--wait',
        'until the work, or a review, is over; without work there is nothing to wait for, and it does no harm',
      ],
      ['--if-version N', 'only if N, which you saw, is still the version'],
      ['--key KEY', 'repeats a command whose answer was lost'],
      [
        '--print NAME',
        'only one thing of the answer. id: the ID of what was made or changed. state: how far the operation is (succeeded: the command is done), not the state of the resource, which “get” shows. Or a path: subject.version',
      ],
    ],
    run: (api, args) => runCommand(api, args, tell),
  },
  {
    name: 'watch',
    usage: 'OPERATION',
    example: 'watch op_01jcq7v8z4n2m6k9s3x5t1r0wd',
    summary: 'follows work that goes on (op_…), until it is over',
    options: [],
    run: watch,
  },
  {
    name: 'upload',
    usage: 'FILE',
    example: 'upload advertisement.mp3',
    summary: 'sends a file, and prints the ID of its upload',
    options: [asJson],
    run: (api, args) => upload(api, args, tell),
  },
  {
    name: 'result',
    usage: 'REPORT_RUN',
    example: 'result rpr_01jcq7v8z4n2m6k9s3x5t1r0wd --format jsonl',
    summary: 'the file of a report (rpr_…)',
    options: [['--format csv|jsonl', 'CSV with a header (the default), or one JSON object a line']],
    run: (api, args) => writeResult(api, args, process.stdout),
  },
  {
    name: 'document',
    usage: 'STATEMENT',
    example: 'document bil_01jcq7v8z4n2m6k9s3x5t1r0wd --format csv > statement.csv',
    summary: 'a document of an issued statement (bil_…)',
    options: [['--format csv|html|json', 'records of CSV, a page to print (the default), or canonical JSON']],
    run: (api, args) => writeDocument(api, args, process.stdout),
  },
  {
    name: 'items',
    usage: 'RECONCILIATION',
    example: 'items rec_01jcq7v8z4n2m6k9s3x5t1r0wd --undecided',
    summary: 'what a source and our ledger count, item by item; what people must decide comes first',
    options: [
      ['--undecided', 'only items without a verdict'],
      ['--source NAME', 'only items of this source'],
      ['--line_item_id ID', 'only items of this line item'],
      ['--limit N', 'rows of a page: 50, at most 200'],
      everyPage,
      asJson,
    ],
    run: showItems,
  },
  {
    name: 'funnel',
    usage: 'LINE_ITEM',
    example: 'funnel li_01jcq7v8z4n2m6k9s3x5t1r0wd --from 2026-12-01T00:00:00Z',
    summary: 'where a line item stands, and why it was given no more slots',
    options: [
      ['--from TIME, --to TIME', 'whole hours of this time, at most 31 days; the last 24 hours when absent'],
      asJson,
    ],
    run: showFunnel,
  },
  {
    name: 'alerts',
    usage: '',
    example: 'alerts --state open',
    summary: 'what is wrong with line items and podcasts, those that were raised last first',
    options: [
      ['--state open|closed', 'only these'],
      ['--kind KIND', 'only alerts of this kind'],
      ['--line_item_id ID, --podcast_id ID', 'only alerts of one line item or podcast'],
      ['--limit N', 'rows of a page: 50, at most 200'],
      everyPage,
      asJson,
    ],
    run: showAlerts,
  },
  {
    name: 'decisions',
    usage: '',
    example: 'decisions --outcome empty --limit 10',
    summary: 'decisions about ads, newest first: which line items won, or why none did',
    options: [
      ['--from TIME, --to TIME', 'plays of this time, at most 31 days; the last 24 hours when absent'],
      ['--line_item_id ID', 'with this candidate, whether it won or not'],
      ['--verdict VERDICT', 'with this verdict on the line item, or on any candidate'],
      ['--podcast_id ID, --episode_id ID', 'of plays of one podcast or episode'],
      ['--campaign_id ID, --creative_id ID', 'with an ad of this campaign or creative'],
      ['--outcome filled|empty', 'with an ad, or without any'],
      ['--no_ad_reason REASON', 'with a slot that stayed empty for this reason'],
      ['--purpose PURPOSE', 'the purpose that is recorded, one of those that you allowed'],
      ['--limit N', 'rows of a page: 50, at most 200'],
      everyPage,
      asJson,
    ],
    run: showDecisions,
  },
  {
    name: 'trace',
    usage: 'DECISION',
    example: 'trace dec_01jcq7v8z4n2m6k9s3x5t1r0wd',
    summary: 'why each candidate of a decision won or lost, as JSON',
    options: [['--purpose PURPOSE', 'the purpose that is recorded, one of those that you allowed']],
    run: showTrace,
  },
  {
    name: 'changes',
    usage: '',
    example: 'changes --types campaigns --follow',
    summary: 'everything that changed, in the order in which it did',
    options: [
      ['--after CURSOR', 'go on after this cursor; now: only what comes'],
      ['--types TYPE,…', 'only changes of these resource types'],
      ['--limit N', 'rows of a page: 50, at most 200'],
      everyPage,
      ['--follow', 'go on with what comes, until Ctrl-C; without --after only that'],
      ['--json', 'one JSON object a line, with the resource'],
    ],
    run: (api, args) => writeChanges(api, args, { write: (line) => console.log(line), tell }),
  },
  {
    name: 'receipts',
    usage: '',
    example: 'receipts > chain.jsonl',
    summary: 'the chain of signed receipts, for “receipts verify”',
    options: [
      ['--chain commands|authority', 'what this API changes (the default), or accounts, credentials and members'],
      ['--after SEQ', 'go on after the last receipt that you have'],
    ],
    run: (api, args) => writeReceipts(api, args, (text) => void process.stdout.write(text)),
  },
];
