import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { until } from './until.ts';

interface SentMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Path and query of the first link. */
  readonly link: string;
}

/** A mail of plain text as it lies in a file. */
function parseMail(source: string): SentMail {
  const [head = '', ...rest] = source.split('\n\n');
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'mi').exec(head)?.[1] ?? '';
  const text = rest.join('\n\n');
  const link = /https?:\/\/[^/\s]+(\S*)/.exec(text)?.[1] ?? '';
  return { to: header('To'), subject: header('Subject'), text, link };
}

/** The mails in a folder, oldest first. */
export const readMails = (folder: string): SentMail[] =>
  readdirSync(folder)
    .sort()
    .map((file) => parseMail(readFileSync(path.join(folder, file), 'utf8')));

/** The newest mail to an address, waiting until there are so many. */
export async function mailTo(folder: string, email: string, count = 1): Promise<SentMail> {
  const found = () => readMails(folder).filter(({ to }) => to === email);
  await until(async () => found().length >= count);
  return found().at(-1)!;
}
