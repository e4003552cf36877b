import { encodingJobInputs, type EncodingJobKind } from '@longwave/events';
import type { z } from 'zod';
import type { FailCommand } from './report.ts';

export type JobInput = {
  readonly [K in EncodingJobKind]: { readonly kind: K } & z.output<(typeof encodingJobInputs)[K]>;
}[EncodingJobKind];

/** Throws for an unknown kind and for an input that is not of its kind. */
export function parseJobInput(kind: string, inputJson: string): JobInput {
  if (!Object.hasOwn(encodingJobInputs, kind)) throw new Error(`job of an unknown kind: ${kind}`);
  const known = kind as EncodingJobKind;
  return { kind: known, ...encodingJobInputs[known].parse(JSON.parse(inputJson)) } as JobInput;
}

/** The command that reports that a job cannot be done. */
export function failCommand(input: JobInput): FailCommand {
  if (input.kind === 'encode_production') return 'production.fail';
  if (input.kind === 'encode_creative') return 'creative.fail_media';
  return `podcast.fail_${input.part}`;
}
