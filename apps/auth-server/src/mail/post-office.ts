import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { createMailToken, type MailPurpose, type MailToken } from './mail-token-table.ts';
import type { Mail, MailPort } from './mail-port.ts';

/** The page that a link of each purpose leads to. */
const pages: Readonly<Record<MailPurpose, string>> = {
  sign_up: '/sign-up/finish',
  reset: '/sign-in/reset/finish',
  change_email: '/settings/email/confirm',
};

export interface PostOffice extends AsyncDisposable {
  /**
   * Does work that ends with a mail beside the request that asked for it, or once `answer` has been given or given up: so nobody learns by
   * the time of an answer whether an address is known.
   */
  readonly later: (work: () => Promise<void>, answer?: ServerResponse) => void;
  readonly send: (mail: Mail) => Promise<void>;
  /** The link of a mail, which proves the address of who follows it, and the path at which the person goes on. */
  readonly linkFor: (purpose: MailPurpose, about: MailToken, returnTo?: string) => Promise<string>;
  /** A link to a page of ours. */
  readonly pageLink: (path: string) => string;
}

/** Mails that wait for their turn are sent before the process ends; one that fails is told to the log, without its address. */
export function createPostOffice(deps: {
  readonly pool: Pool;
  readonly mail: MailPort;
  readonly baseUrl: string;
  readonly clock: () => Date;
  readonly logger: Logger;
}): PostOffice {
  const { pool, mail, baseUrl, clock, logger } = deps;
  const running = new Set<Promise<void>>();
  return {
    later: (work, answer) => {
      const given = answer ? finished(answer).catch(() => undefined) : Promise.resolve();
      const task = given
        .then(work)
        .catch((error: unknown) =>
          logger.error({ reason: (error as { code?: string }).code ?? 'unknown' }, 'mail.failed'),
        )
        .finally(() => running.delete(task));
      running.add(task);
    },
    send: (one) => mail.send(one),
    linkFor: async (purpose, about, returnTo) => {
      const link = `${baseUrl}${pages[purpose]}?token=${await createMailToken(pool, purpose, about, clock())}`;
      return returnTo === undefined ? link : `${link}&return_to=${encodeURIComponent(returnTo)}`;
    },
    pageLink: (path) => baseUrl + path,
    [Symbol.asyncDispose]: async () => void (await Promise.all(running)),
  };
}
