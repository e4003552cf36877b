import { z } from 'zod';
import { reference } from '../fields.ts';

/** The signed message of a hosting platform that a command applies. Its original bytes are kept by hosting-exchange. */
export const messageSource = {
  /** The authority grant under which it was signed. */
  authority_id: reference('agr'),
  /** The machine key that signed it. */
  signed_by: reference('key'),
  stream_id: z.string().min(4).max(121),
  /** Its place in the stream, from 1 on. */
  sequence: z.int().min(1),
  /** "sha256:" and the SHA-256 of the signed text in hex. */
  message_digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  /** The platform's own id of what the message is about. */
  source_id: z.string().min(1).max(255),
  source_version: z.int().min(1),
};
