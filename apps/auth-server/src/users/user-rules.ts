import type { identityCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';

/** Rules of the user commands: an address is changed only after a mail to it was answered. */
export const userRules: Pick<Rules<typeof identityCatalog>, 'user.verify_email' | 'user.change_email'> = {
  'user.verify_email': ({ current }) => ({ attributes: { ...current, email_verified: true } }),
  'user.change_email': ({ current, changes }) => ({ attributes: { ...current, ...changes, email_verified: true } }),
};
