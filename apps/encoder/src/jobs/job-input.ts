import { z } from 'zod';

const shared = {
  storage_key: z.string().min(1),
  /** ETag of the object that was probed; other bytes under the same key are refused. */
  source_etag: z.string().min(1),
  loudness_target_lufs: z.number().min(-40).max(-5),
};

/** Inputs of the job kinds this service works on, as management writes them. */
export const jobInputs = {
  encode_production: z.strictObject({
    ...shared,
    production_id: z.string(),
    episode_id: z.string(),
    filename: z.string(),
    /** Absent when the uploader announced no size. */
    declared_size_bytes: z.int().min(0).nullish(),
    title: z.string(),
    podcast_title: z.string(),
  }),
  encode_creative: z.strictObject({ ...shared, creative_id: z.string() }),
} as const;

export type JobKind = keyof typeof jobInputs;
export const jobKinds = Object.keys(jobInputs) as JobKind[];
export const isJobKind = (kind: string): kind is JobKind => Object.hasOwn(jobInputs, kind);
