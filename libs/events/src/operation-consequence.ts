import { z } from 'zod';

/** Another resource that a command changed along with its subject, as the operation shows it. */
export const operationConsequenceSchema = z.object({
  /** Its type, in the plural. */
  type: z.string(),
  id: z.string(),
  version: z.int(),
  /** Its lifecycle state since then. */
  state: z.string(),
  /** Type of the event that tells of it. */
  event: z.string(),
});

export type OperationConsequence = z.output<typeof operationConsequenceSchema>;
