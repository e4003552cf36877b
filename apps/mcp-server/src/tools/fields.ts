import { idempotencyKeyPattern } from '@longwave/idempotency';
import { z } from 'zod';

const idOf = (prefix: string, noun: string) => z.string().min(1).max(64).describe(`ID of the ${noun}, ${prefix}_….`);

export const podcastId = idOf('pod', 'podcast');
export const episodeId = idOf('ep', 'episode');
export const productionId = idOf('pro', 'production');
export const uploadId = idOf('upl', 'upload');

const defaultLimit = 20;

/** Arguments of every list. */
export const pageArguments = {
  limit: z.int().min(1).max(100).default(defaultLimit).describe('Items of one page.'),
  cursor: z.string().max(4_096).optional().describe('`next_cursor` of the page before.'),
};

/** Fields of every page. */
export const pageFields = {
  next_cursor: z.string().nullable().describe('Argument `cursor` of the next page; null on the last one.'),
};

/** Arguments of every write. */
export const writeArguments = {
  idempotency_key: z
    .string()
    .regex(
      idempotencyKeyPattern,
      'Use 1 to 128 characters: letters, digits, ".", "_", ":", "-"; a letter or digit first.',
    )
    .optional()
    .describe('A key that you choose for this write. A retry with the same key does not repeat it.'),
};

/** The version that an object must have when it is changed. */
export const expectedVersion = z
  .int()
  .min(1)
  .describe('`version` of the object as you read it. The call is refused when the object has changed since.');

/** The version in every answer that shows a resource. */
export const versionField = { version: z.int().min(1).describe('Argument `expected_version` of the next change.') };
