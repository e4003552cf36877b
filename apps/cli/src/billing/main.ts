/** `longwave billing verify`: computes a statement again and compares it with what was issued. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { statementFormats } from '@longwave/money';
import { assertNoWords, runOperations } from '../checks/run-operations.ts';
import { typed, UsageError } from '../command.ts';
import { escapeControls } from '../escape-controls.ts';
import { openManagementApi } from '../manage/management-api.ts';
import { workspaceOf } from '../manage/workspace.ts';
import { liveSession } from '../sign-in/live-session.ts';
import { openSessionFile } from '../sign-in/session-file.ts';
import { verifyStatement, type Copy, type Verification } from './verify-statement.ts';

const usage = `${typed} billing verify STATEMENT [--workspace WS] [--document FILE] [--json]

Computes a billing statement again, on this machine, from the ledger as it was known when the statement was made, and compares the inputs,
the lines and every document with what was issued, byte for byte. It reads only; sign in first: ${typed} login --for management

  STATEMENT        ID of the statement (bil_…), as “manage list billing_statements” shows it
  --workspace WS   optional: its workspace, where you see several (or LONGWAVE_WORKSPACE in the environment)
  --document FILE  optional: a document that you got (.json, .csv or .html), which is compared too
  --data FOLDER    optional: without effect, because the sign-in says which installation it belongs to
  --json           optional: print one JSON document

Exit code: 0 when everything is equal, 1 when something differs or could not be read, 2 when the command line is wrong.

Example:
  ${typed} billing verify bil_01jcq7v8z4n2m6k9s3x5t1r0wd --document statement-12.csv`;

/** The document that `--document` names. Throws `UsageError`. */
function readCopy(file: string): Copy {
  const format = statementFormats.find((each) => path.extname(file).toLowerCase() === `.${each}`);
  if (!format)
    throw new UsageError(`--document: “${file}” is none of ${statementFormats.map((each) => `.${each}`).join(', ')}.`);
  try {
    return { name: path.basename(file), format, bytes: readFileSync(file) };
  } catch (error) {
    throw new UsageError(`--document: ${file} cannot be read: ${(error as Error).message}`);
  }
}

function render({ statement_id: id, number, total, known_at: knownAt, verified, checks }: Verification): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const wrong = checks.filter(({ ok }) => !ok).length;
  return [
    `Statement ${number} (${id}), ${total}, by the ledger as known at ${knownAt}.`,
    ...checks.map(
      ({ name, ok, detail }) => `${ok ? '✓' : '✗'} ${escapeControls(name.padEnd(width))}  ${escapeControls(detail)}`,
    ),
    verified
      ? 'It is what the ledger says.'
      : `It differs in ${wrong} of ${checks.length}. Do not pay or settle it; ask who issued it for a credit note, and keep this output.`,
  ].join('\n');
}

await runOperations(
  {
    usage,
    options: {
      workspace: { type: 'string' },
      document: { type: 'string' },
      data: { type: 'string' },
      json: { type: 'boolean' },
    },
  },
  async ({ workspace, document, json }, [verb, id, ...words]) => {
    if (verb !== 'verify')
      throw new UsageError(
        verb === undefined ? '“billing” needs “verify” after it.' : `There is no command “billing ${verb}”.`,
      );
    if (id === undefined) throw new UsageError('STATEMENT is missing: the ID of a statement (bil_…).');
    if (!/^bil_[0-9a-z]{26}$/.test(id))
      throw new UsageError(`“${id}” is no ID of a statement: bil_ and 26 letters and digits.`);
    assertNoWords(words);
    const copy = document === undefined ? undefined : readCopy(document);
    const file = openSessionFile();
    const api = openManagementApi(
      () => liveSession(file, 'management'),
      (line) => console.error(line),
    );
    const verification = await verifyStatement(api, { workspaceId: await workspaceOf(api, workspace), id, copy });
    console.log(json === true ? JSON.stringify(verification, null, 2) : render(verification));
    return verification.verified ? 0 : 1;
  },
);
