import { mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { newId } from '@longwave/ids';
import { createTransport } from 'nodemailer';

/** A mail of plain text to one address. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface MailPort {
  readonly send: (mail: Mail) => Promise<void>;
}

interface MailSettings {
  /** `smtp://…` or `smtps://…`. */
  readonly MAIL_URL?: string | undefined;
  /** Where mails become files, without an MAIL_URL. */
  readonly MAIL_FOLDER?: string | undefined;
  readonly from: string;
}

/** Mails by SMTP. */
function smtpMail(url: string, from: string): MailPort {
  const transport = createTransport(url, { from });
  return { send: async (mail) => void (await transport.sendMail(mail)) };
}

/** Mails as files of their own, which a mail program opens and a person reads as they are. */
function folderMail(folder: string, from: string): MailPort {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' }, { from });
  // Nothing between here and the file needs lines of 76 characters: quoted-printable would break links.
  transport.use('stream', ({ message }, done) => {
    message.getTransferEncoding = () => '8bit';
    done();
  });
  return {
    send: async (mail) => {
      const { message } = await transport.sendMail(mail);
      const file = path.join(folder, `${newId('evt').slice(4)}.eml`);
      await writeFile(file, message as Buffer, { mode: 0o600 });
    },
  };
}

/** The way mails leave: by SMTP where an address is given, else into a folder. */
export function createMailPort({ MAIL_URL, MAIL_FOLDER, from }: MailSettings): MailPort {
  if (MAIL_URL) return smtpMail(MAIL_URL, from);
  if (MAIL_FOLDER) return folderMail(MAIL_FOLDER, from);
  throw new Error('neither MAIL_URL nor MAIL_FOLDER is set');
}
