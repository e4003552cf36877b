import { z } from 'zod';
import type { FailCommand } from './report.ts';

const stored = {
  storage_key: z.string().min(1),
  /** ETag of the object that was probed; other bytes under the same key are refused. */
  source_etag: z.string().min(1),
  /** Absent when the uploader announced no checksum. */
  declared_sha256: z.string().optional(),
};
const targetLufs = z.number().min(-40).max(-5);
const loudness = { loudness_target_lufs: targetLufs };
const creative = { ...stored, creative_id: z.string() };

const production = {
  ...loudness,
  production_id: z.string(),
  episode_id: z.string(),
  filename: z.string(),
  /** Absent when the uploader announced no size. */
  declared_size_bytes: z.int().min(0).nullish(),
  title: z.string(),
  podcast_title: z.string(),
};

/** Inputs of the job kinds this service works on, as management writes them. */
const jobInputs = {
  encode_production: z.union([
    z.strictObject({ ...production, ...stored }),
    /** A file outside the service. */
    z.strictObject({ ...production, source_url: z.url({ protocol: /^https?$/ }) }),
  ]),
  encode_segment: z.strictObject({ ...loudness, ...stored, podcast_id: z.string(), part: z.enum(['intro', 'outro']) }),
  encode_creative: z.union([
    z.strictObject({ ...creative, loudness_targets_lufs: z.array(targetLufs).min(1).max(12) }),
    /** Jobs that were waiting when ads got more than one loudness. */
    z
      .strictObject({ ...creative, ...loudness })
      .transform(({ loudness_target_lufs: only, ...input }) => ({ ...input, loudness_targets_lufs: [only] })),
  ]),
} as const;

export type JobKind = keyof typeof jobInputs;
export type JobInput = { readonly [K in JobKind]: { readonly kind: K } & z.output<(typeof jobInputs)[K]> }[JobKind];

export const jobKinds = Object.keys(jobInputs) as JobKind[];

/** Throws for an unknown kind and for an input that is not of its kind. */
export function parseJobInput(kind: string, inputJson: string): JobInput {
  if (!Object.hasOwn(jobInputs, kind)) throw new Error(`job of an unknown kind: ${kind}`);
  const known = kind as JobKind;
  return { kind: known, ...jobInputs[known].parse(JSON.parse(inputJson)) } as JobInput;
}

/** The command that reports that a job cannot be done. */
export function failCommand(input: JobInput): FailCommand {
  if (input.kind === 'encode_production') return 'production.fail';
  if (input.kind === 'encode_creative') return 'creative.fail_media';
  return `podcast.fail_${input.part}`;
}
