import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import {
  hasOwnData,
  operationEnded,
  productCatalog,
  webhookDataSchema,
  webhookDeliveryProblems,
  webhookEventTypes,
  type CommandDefinition,
} from '@longwave/command-catalog';
import { freePorts } from '@longwave/fleet';
import { until } from '@longwave/test-kit';
import { retryDelaysMs } from '../src/workspace/webhooks/retry-schedule.ts';
import { secretText, signedHeaders } from '../src/workspace/webhooks/webhook-secret.ts';

const page = readFileSync(path.join(import.meta.dirname, '../../../docs/webhooks.md'), 'utf8');

/** The rows of the table whose head begins with this word: the text of each cell. */
function tableOf(head: string): string[][] {
  const lines = page.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${head}`));
  const rows = lines.slice(start + 2);
  return rows
    .slice(
      0,
      rows.findIndex((line) => !line.startsWith('|')),
    )
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** The texts between backticks. */
const codesIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code);

test('the page lists each type that says more than a reference, with its fields', () => {
  const plain = Object.keys(webhookDataSchema('podcast.created').shape);
  const rows = tableOf('Type ').map(([type, fields]) => [codesIn(type!)[0], codesIn(fields!)]);
  const expected = webhookEventTypes.filter(hasOwnData).map((type) => {
    const fields = Object.keys(webhookDataSchema(type).shape).filter((field) => !plain.includes(field));
    return [type, type === operationEnded ? [] : fields];
  });
  expect(rows.sort()).toEqual(expected.sort());
  for (const field of Object.keys(webhookDataSchema(operationEnded).shape)) expect(page).toContain(`\`${field}\``);
});

test('the page lists each command with the states in which it is possible', () => {
  const rows = tableOf('Command ').map(([command, from]) => [codesIn(command!)[0], from!.split(' → ')[0]]);
  const expected = Object.values<CommandDefinition>(productCatalog.commands)
    .filter(({ subject }) => subject === 'webhook_endpoints')
    .map(({ type, from }) => [type, (from ?? []).join(', ')]);
  expect(rows.sort()).toEqual(expected.sort());
});

test('the page lists each reason of a failed delivery, and the pauses between attempts', () => {
  expect(tableOf('Why ').map(([problem]) => codesIn(problem!)[0])).toEqual([...webhookDeliveryProblems]);
  const units = [
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ] as const;
  const pauses = retryDelaysMs.map((ms) => {
    const [unit, name] = units.find(([size]) => ms >= size)!;
    return `${ms / unit} ${name}`;
  });
  expect(page).toContain(`${pauses.slice(0, -1).join(', ')} and ${pauses.at(-1)!}`);
});

test('the receiver on the page runs as it is written: it takes a signed message, and neither a changed nor an old one', async () => {
  const [, code] = /```js\n([\s\S]+?)```/.exec(page)!;
  const folder = mkdtempSync(path.join(tmpdir(), 'receiver-'));
  const file = path.join(folder, 'receiver.mjs');
  writeFileSync(file, code!);
  const secret = Buffer.alloc(32, 9);
  const [port] = await freePorts(1);
  const env = { PATH: process.env['PATH'], PORT: String(port), WEBHOOK_SECRET: secretText(secret) };
  const receiver = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  receiver.stdout.on('data', (text: Buffer) => (printed += text.toString()));
  const post = (body: string, headers: Readonly<Record<string, string>>) =>
    fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body }).then(({ status }) => status);
  try {
    const body = JSON.stringify({ id: 'evt_1', type: 'webhook.test' });
    const headers = signedHeaders('evt_1', body, [Buffer.alloc(32, 1), secret], new Date());
    expect(await until(() => post(body, headers), { despiteErrors: true })).toBe(204);
    await until(() => printed.includes('webhook.test'));
    expect(await post(`${body} `, headers)).toBe(400);
    expect(await post(body, signedHeaders('evt_1', body, [secret], new Date(0)))).toBe(400);
    expect(await post(body, {})).toBe(400);
  } finally {
    receiver.kill();
    await once(receiver, 'exit');
    rmSync(folder, { recursive: true });
  }
});
