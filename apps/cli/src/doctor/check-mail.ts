import { createTransport } from 'nodemailer';
import type { Check } from '../checks/check.ts';
import { explainNetworkError } from '../checks/explain-network-error.ts';

/** The host of an address; nothing of one that has more behind it, where a password that was not encoded ends up. */
function hostIn(address: string): string | undefined {
  const url = URL.parse(address);
  return url && /^\/?$/.test(url.pathname + url.search + url.hash) ? url.host : undefined;
}

/**
 * Whether the mail server lets this machine in: connection, TLS and login, without a mail.
 * @param name the variable or setting that names it
 */
export async function checkMail(name: string, url: string | undefined): Promise<Check> {
  const base = { part: 'mail', name };
  if (!url) return { ...base, well: true, says: 'not set: mails become files in the data folder' };
  try {
    const transport = createTransport({ url, connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 5_000 });
    try {
      await transport.verify();
    } finally {
      transport.close();
    }
    return { ...base, well: true, says: `${new URL(url).host} lets us in` };
  } catch (error) {
    return {
      ...base,
      well: false,
      says: [hostIn(url), explainNetworkError(error)].filter(Boolean).join(': '),
      advice:
        'Check host, port, user and password: smtps://user:password@mail.example:465, or smtp://…:587. A password has @ as %40, / as %2F, # as %23.',
    };
  }
}
