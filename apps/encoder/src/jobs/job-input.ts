import { encodingJobInputs, type EncodingJobKind } from '@longwave/events';
import type { z } from 'zod';
import type { Failure } from './report.ts';

export type JobInput = {
  readonly [K in EncodingJobKind]: { readonly kind: K } & z.output<(typeof encodingJobInputs)[K]>;
}[EncodingJobKind];

/** Throws for an unknown kind and for an input that is not of its kind. */
export function parseJobInput(kind: string, inputJson: string): JobInput {
  if (!Object.hasOwn(encodingJobInputs, kind)) throw new Error(`job of an unknown kind: ${kind}`);
  const known = kind as EncodingJobKind;
  return { kind: known, ...encodingJobInputs[known].parse(JSON.parse(inputJson)) } as JobInput;
}

/** The command that reports why a job cannot be done. */
export function failureOf(input: JobInput, problem: Failure['changes']['problem']): Failure {
  switch (input.kind) {
    case 'encode_production':
      return { commandType: 'production.fail', changes: { problem } };
    case 'encode_hls_audio':
      return { commandType: 'production.fail_track', changes: { track: 'a192', problem } };
    case 'encode_hls_video':
      return { commandType: 'production.fail_track', changes: { track: input.track, problem } };
    case 'encode_creative':
      return { commandType: 'creative.fail_media', changes: { problem } };
    case 'encode_creative_pictures':
      return { commandType: 'creative.fail_pictures', changes: { problem } };
    case 'encode_creative_tracks':
      return { commandType: 'creative.fail_tracks', changes: { problem } };
    case 'encode_segment':
      return { commandType: `podcast.fail_${input.part}`, changes: { problem } };
  }
}
