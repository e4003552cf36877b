import { audienceScopes, producerPattern } from '@longwave/principal';
import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { instant, reference } from '../fields.ts';

const workspaces = z.array(reference('ws')).min(1).max(100);
const scopes = z.array(z.enum(audienceScopes)).min(1);

/** Machine tokens: an access token of a machine client, recorded by its id; the signed text is stored nowhere. */
export const machineTokens = defineResource({
  type: 'machine_tokens',
  noun: 'machine_token',
  prefix: 'mtk',
  attributes: z.strictObject({
    /** The name under which a party sends measurements. */
    producer: z.string().regex(producerPattern),
    /** The workspaces that it may report about; the token belongs to one of them. */
    workspaces,
    scopes,
    expires_at: instant,
  }),
  states: ['active', 'revoked'],
  terminalStates: ['revoked'],
  links: {},
  uniqueAttributes: [],
});

export const machineTokenCommands = {
  'machine_token.issue': defineCommand({
    type: 'machine_token.issue',
    subject: 'machine_tokens',
    to: 'active',
    changes: z.strictObject({
      producer: z.string().regex(producerPattern),
      workspaces,
      scopes: scopes.default([...audienceScopes]),
      expires_at: instant,
    }),
    machines: ['operator'],
    event: 'machine_token.issued',
    hasRule: true,
    problems: ['validation_failed'],
    summary: 'Records an access token of a machine client for the Audience Analytics Sink API.',
  }),
  'machine_token.revoke': defineCommand({
    type: 'machine_token.revoke',
    subject: 'machine_tokens',
    from: ['active'],
    to: 'revoked',
    changes: z.strictObject({}),
    machines: ['operator'],
    event: 'machine_token.revoked',
    externalEffect: 'The API refuses it within seconds.',
    summary: 'Revokes an access token of a machine client.',
  }),
} as const;
