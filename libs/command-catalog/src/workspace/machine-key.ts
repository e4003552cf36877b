import { z } from 'zod';
import { defineCommand, defineResource } from '../definition.ts';
import { cause, instant, instantWithOffset, reference, stateReason } from '../fields.ts';

/** A public Ed25519 key (RFC 8037). A private member is an unknown field, and refused. */
const jwk = z.strictObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
});

/** What a key may sign: messages about content, or evidence of platforms. */
const purposes = z
  .array(z.enum(['content', 'platform_evidence']))
  .min(1)
  .max(2)
  .refine((all) => new Set(all).size === all.length, { error: 'Name each purpose once.' });

/** Machine keys: public keys that sign messages under an authority grant. */
export const machineKeys = defineResource({
  type: 'machine_keys',
  noun: 'machine_key',
  prefix: 'key',
  attributes: z.strictObject({
    authority_id: reference('agr'),
    jwk,
    /** SHA-256 of the key in base64url (RFC 7638). */
    thumbprint: z.string(),
    purposes,
    not_before: instant,
    not_after: instant,
    /** The self-signed proof of possession with which it was registered. */
    proof: z.string(),
    /** The key that takes its place, and the time until which both hold. */
    successor_id: reference('key').optional(),
    overlap_until: instant.optional(),
    /** When it may have come into other hands: nothing that it signed from then on is trusted. */
    suspect_since: instant.optional(),
    state_reason: stateReason,
  }),
  states: ['pending', 'active', 'retiring', 'revoked', 'expired'],
  terminalStates: ['revoked', 'expired'],
  links: {
    authority: { attribute: 'authority_id', type: 'authority_grants' },
    successor: { attribute: 'successor_id', type: 'machine_keys' },
  },
  uniqueAttributes: ['thumbprint'],
});

const living = ['pending', 'active', 'retiring'] as const;

export const machineKeyCommands = {
  'machine_key.register': defineCommand({
    type: 'machine_key.register',
    subject: 'machine_keys',
    to: 'pending',
    changes: z.strictObject({
      authority_id: reference('agr'),
      jwk,
      purposes,
      not_before: instantWithOffset.optional(),
      not_after: instantWithOffset,
      proof: z
        .string()
        .max(4000)
        .describe(
          'Compact JWS (EdDSA, typ "key-proof+jwt") by the key itself over {workspace_id, authority_id, jkt, nonce, iat}.',
        ),
    }),
    roles: ['admin'],
    review: 'single',
    reviewers: ['reviewer', 'admin'],
    event: 'machine_key.registered',
    hasRule: true,
    problems: ['validation_failed', 'link_not_found', 'value_taken'],
    summary: 'Registers a public key under an authority grant; the proof shows that the private key is at hand.',
  }),
  'machine_key.activate': defineCommand({
    type: 'machine_key.activate',
    subject: 'machine_keys',
    from: ['pending'],
    to: 'active',
    changes: z.strictObject({}),
    roles: ['admin'],
    event: 'machine_key.activated',
    hasRule: true,
    problems: ['state_not_allowed'],
    externalEffect: 'What it signs is accepted within its time.',
    summary: 'Puts a registered key into use.',
  }),
  'machine_key.retire': defineCommand({
    type: 'machine_key.retire',
    subject: 'machine_keys',
    from: ['active'],
    to: 'retiring',
    changes: z.strictObject({ successor_id: reference('key'), overlap_until: instantWithOffset }),
    roles: ['admin'],
    machines: ['management'],
    event: 'machine_key.retired',
    hasRule: true,
    problems: ['validation_failed', 'link_not_found'],
    summary: 'Names the successor of a key and the time until which both hold.',
  }),
  'machine_key.revoke': defineCommand({
    type: 'machine_key.revoke',
    subject: 'machine_keys',
    from: living,
    to: 'revoked',
    changes: z.strictObject({ cause, suspect_since: instantWithOffset.optional() }),
    roles: ['admin'],
    machines: ['management'],
    whileSuspended: 'accepted',
    event: 'machine_key.revoked',
    hasRule: true,
    problems: ['validation_failed'],
    externalEffect: 'Nothing that it signs is accepted from now on.',
    summary: 'Ends a key at once; `suspect_since` says from when it is not trusted.',
  }),
  'machine_key.expire': defineCommand({
    type: 'machine_key.expire',
    subject: 'machine_keys',
    from: living,
    to: 'expired',
    changes: z.strictObject({}),
    machines: ['management'],
    event: 'machine_key.expired',
    hasRule: true,
    problems: ['state_not_allowed'],
    summary: 'The time of a key, or of its overlap with its successor, is over.',
  }),
} as const;
