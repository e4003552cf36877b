import { z } from 'zod';
import { instant, keyId, text } from '../fields.ts';

/** Replaces a signing key by its successor, which signs this message. */
export const authorityRotationBody = z.strictObject({
  retire_kid: keyId.describe('The key whose place is taken.'),
  successor_kid: keyId.describe('The registered key that takes it; it signs this message.'),
  overlap_until: instant.describe('Until then both keys sign.'),
  cause: text(500),
});
export type AuthorityRotation = z.output<typeof authorityRotationBody>;
