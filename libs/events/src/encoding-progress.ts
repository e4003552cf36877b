import { z } from 'zod';

/** Stages of an encoding, in their order. */
const encodingStages = ['downloading', 'measuring', 'encoding', 'verifying', 'storing', 'done'] as const;
export type EncodingStage = (typeof encodingStages)[number];

/** How far an encoding is, 0 to 1; ephemeral, published by the encoder. */
const progressTickSchema = z.object({
  production_id: z.string(),
  progress: z.number().min(0).max(1),
  stage: z.enum(encodingStages),
});

export type ProgressTick = z.output<typeof progressTickSchema>;

/** A tick as Redis has it; undefined for no text and for any other. */
export function tryParseTick(text: string | null): ProgressTick | undefined {
  if (text === null) return undefined;
  try {
    return progressTickSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
