import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { emailAddress, shortText, timeZone } from '../fields.ts';

const locale = z.enum(['en', 'de']);
/** Users: people who sign in. Their passwords and other secrets are in tables of auth-server's own, never here. */
export const users = defineResource({
  type: 'users',
  noun: 'user',
  prefix: 'usr',
  attributes: z.strictObject({
    name: shortText,
    /** The address to sign in with. */
    email: emailAddress,
    /** Whether a mail to the address was answered. Until then nothing that belongs to the address is given. */
    email_verified: z.boolean(),
    locale: locale.optional(),
    time_zone: timeZone.optional(),
  }),
  states: ['active', 'closed'],
  terminalStates: ['closed'],
  links: {},
  uniqueAttributes: ['email'],
});

export const userCommands = {
  'user.create': defineCommand({
    type: 'user.create',
    subject: 'users',
    to: 'active',
    changes: z.strictObject({ name: shortText, email: emailAddress, email_verified: z.boolean() }),
    machines: ['operator', 'auth-server'],
    event: 'user.created',
    problems: ['value_taken'],
    summary: 'Makes a user who can sign in.',
  }),
  'user.verify_email': defineCommand({
    type: 'user.verify_email',
    subject: 'users',
    from: ['active'],
    changes: z.strictObject({}),
    machines: ['operator', 'auth-server'],
    event: 'user.email_verified',
    hasRule: true,
    summary: 'Records that a mail to the address of the user was answered.',
  }),
  'user.revise': defineCommand({
    type: 'user.revise',
    subject: 'users',
    from: ['active'],
    changes: z.strictObject({
      name: shortText.optional(),
      locale: locale.optional(),
      time_zone: timeZone.optional(),
    }),
    machines: ['operator', 'auth-server'],
    event: 'user.revised',
    summary: 'Changes the name, the language or the time zone of a user.',
  }),
  'user.change_email': defineCommand({
    type: 'user.change_email',
    subject: 'users',
    from: ['active'],
    changes: z.strictObject({ email: emailAddress }),
    machines: ['operator', 'auth-server'],
    event: 'user.email_changed',
    hasRule: true,
    problems: ['value_taken'],
    summary: 'Moves a user to another address, after a mail to it was answered.',
  }),
  'user.remove_second_factor': defineCommand({
    type: 'user.remove_second_factor',
    subject: 'users',
    from: ['active'],
    changes: z.strictObject({}),
    machines: ['operator', 'auth-server'],
    event: 'user.second_factor_removed',
    hasRule: true,
    externalEffect: 'The user signs in with the password alone, until codes are switched on again.',
    summary: 'Switches off the codes that signing in takes besides the password, and ends the recovery codes.',
  }),
  'user.close': defineCommand({
    type: 'user.close',
    subject: 'users',
    from: ['active'],
    to: 'closed',
    changes: z.strictObject({}),
    machines: ['operator', 'auth-server'],
    event: 'user.closed',
    externalEffect: 'The user’s sessions and tokens end at once.',
    summary: 'Closes a user; the accounts stay.',
  }),
} as const;
