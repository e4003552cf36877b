import type { Invitation } from '../invitations/invitation-table.ts';
import type { Mail } from './mail-port.ts';

const signature = '\n\nLongwave\n';
const oneHour = 'The link works once, within an hour.';
const notYou = 'If this was not you, you need not do anything.';

const onlyOperator = 'If this was not you, write to whoever runs this installation.';
const newPassword = (link: string) => `If this was not you, choose a new password at once:\n\n${link}`;

/** Events of a second factor, of which the person hears by mail. */
export const secondFactorMails = {
  second_factor_on: (to: string): Mail => ({
    to,
    subject: 'Signing in to Longwave takes a code from now on',
    text: `Signing in to your Longwave account takes a code of your app besides the password from now on, and all other browsers were signed out.\n\n${onlyOperator}${signature}`,
  }),
  second_factor_off: (to: string, link: string): Mail => ({
    to,
    subject: 'Signing in to Longwave takes no code any more',
    text: `Signing in to your Longwave account takes the password alone from now on.\n\n${newPassword(link)}${signature}`,
  }),
  codes_refused: (to: string, link: string): Mail => ({
    to,
    subject: 'Somebody gives wrong codes for Longwave',
    text: `Somebody gave the right password of your Longwave account, and then too many wrong codes.\n\n${newPassword(link)}${signature}`,
  }),
  recovery_code_used: (to: string, link: string): Mail => ({
    to,
    subject: 'A recovery code for Longwave was used',
    text: `A recovery code of your Longwave account was used. It works no more.\n\n${newPassword(link)}${signature}`,
  }),
  recovery_codes_made: (to: string, link: string): Mail => ({
    to,
    subject: 'You have new recovery codes for Longwave',
    text: `New recovery codes were made for your Longwave account. The earlier ones work no more.\n\n${newPassword(link)}${signature}`,
  }),
} as const;

/** A name that a stranger wrote, without anything that could be a link. */
const harmless = (name: string) => name.replace(/[^\p{L}\p{N} ,&'’-]/gu, ' ');

/** The beginning of the sentence that invites a person. */
function inviting(offer: Invitation['offer']): string {
  if ('grant' in offer) return `You are offered the role “${offer.grant.role}” in the workspace`;
  if ('podcast' in offer) return `You are invited to work on the podcast “${harmless(offer.podcast)}”`;
  return 'You are invited to work on the podcasts';
}

/** The texts of mails. A name that a stranger wrote never begins one, and nothing in it is a link. */
export const mails = {
  signUp: (to: string, link: string): Mail => ({
    to,
    subject: 'Finish signing up to Longwave',
    text: `Somebody, probably you, signs up to Longwave with this address. Choose a password to finish:\n\n${link}\n\n${oneHour} ${notYou}${signature}`,
  }),
  alreadySignedUp: (to: string, link: string): Mail => ({
    to,
    subject: 'You already use Longwave',
    text: `Somebody, probably you, signs up to Longwave with this address, which has an account already. Choose a new password if you have forgotten yours:\n\n${link}\n\n${oneHour} ${notYou}${signature}`,
  }),
  reset: (to: string, link: string): Mail => ({
    to,
    subject: 'Choose a new password for Longwave',
    text: `Somebody, probably you, asked for a new password. Choose it here:\n\n${link}\n\n${oneHour} ${notYou} Your password stays as it is.${signature}`,
  }),
  passwordChanged: (to: string, link: string, endsPrograms: boolean): Mail => ({
    to,
    subject: 'Your Longwave password was changed',
    text: `The password of your Longwave account was changed, and all other browsers were signed out. ${endsPrograms ? 'The access of all programs and your agent tokens has ended.' : 'Programs and agent tokens keep their access.'}\n\nIf this was not you, choose a new password at once:\n\n${link}${signature}`,
  }),
  changeEmail: (to: string, link: string): Mail => ({
    to,
    subject: 'Confirm your new address for Longwave',
    text: `Somebody, probably you, moves a Longwave account to this address. Confirm it here:\n\n${link}\n\n${oneHour} ${notYou}${signature}`,
  }),
  emailChanged: (to: string): Mail => ({
    to,
    subject: 'Your Longwave address was changed',
    text: `Your Longwave account has another e-mail address from now on. If this was not you, write to whoever runs this installation.${signature}`,
  }),
  invitation: ({ email, organization, offer }: Invitation, link: string): Mail => ({
    to: email,
    subject: 'An invitation to Longwave',
    text: `${inviting(offer)} of “${harmless(organization)}”. Sign in, or sign up with this address, to accept or decline:\n\n${link}${signature}`,
  }),
} as const;
