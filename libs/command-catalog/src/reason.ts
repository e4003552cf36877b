import { z } from 'zod';
import type { CommandDefinition } from './definition.ts';

/** Words, or the earlier request of the sender that the command corrects. */
const freeReason = z
  .union([
    z.string().max(2000),
    z.strictObject({
      corrects: z
        .string()
        .regex(/^rvt_[0-9a-z]{26}$/)
        .describe('The review of an earlier request of yours, which this command corrects; it is withdrawn.')
        .optional(),
    }),
  ])
  .optional();

/** The schema of a command's reason: its own, else words or a correction (docs/management-api.md#work-that-goes-on). */
export const reasonSchemaOf = ({ reason }: Pick<CommandDefinition, 'reason'>): z.ZodType => reason ?? freeReason;

/** Whether a command cannot be sent without a reason. */
export const needsReason = (definition: Pick<CommandDefinition, 'reason'>): boolean =>
  !reasonSchemaOf(definition).safeParse(undefined).success;
