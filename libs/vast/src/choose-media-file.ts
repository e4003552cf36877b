import type { MediaFile } from './vast-document.ts';

/** Types of sound that the encoder takes, by the names that sources give them. */
const encodableTypes: Readonly<Record<string, EncodableType>> = {
  'audio/mpeg': 'audio/mpeg',
  'audio/mp3': 'audio/mpeg',
  'audio/x-mp3': 'audio/mpeg',
  'audio/mpeg3': 'audio/mpeg',
  'audio/mp4': 'audio/mp4',
  'audio/m4a': 'audio/mp4',
  'audio/x-m4a': 'audio/mp4',
  'audio/aac': 'audio/aac',
  'audio/aacp': 'audio/aac',
  'audio/x-aac': 'audio/aac',
  'audio/ogg': 'audio/ogg',
  'application/ogg': 'audio/ogg',
  'audio/wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/x-wav': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
};

type EncodableType = 'audio/mpeg' | 'audio/mp4' | 'audio/aac' | 'audio/ogg' | 'audio/wav';

type MediaChoice =
  | { readonly kind: 'chosen'; readonly file: MediaFile; readonly type: EncodableType }
  | {
      readonly kind: 'refused';
      readonly code: 403;
      /** One sentence. */
      readonly reason: string;
      /** Whether the ad has a picture, whose sound is not taken. */
      readonly hasVideo: boolean;
    };

/** The file of sound with the highest bit rate that can be downloaded and encoded; of equal ones the first. */
export function chooseMediaFile(files: readonly MediaFile[]): MediaChoice {
  const encodable = files.flatMap((file) => {
    const type = Object.hasOwn(encodableTypes, file.type) ? encodableTypes[file.type] : undefined;
    return type && file.delivery === 'progressive' ? [{ file, type }] : [];
  });
  const [best] = encodable.toSorted((a, b) => (b.file.kbps ?? 0) - (a.file.kbps ?? 0));
  if (best) return { kind: 'chosen', ...best };
  const types = [...new Set(files.map(({ type }) => type || 'without a type'))].join(', ');
  return {
    kind: 'refused',
    code: 403,
    reason: `The ad has no file of sound that can be downloaded and encoded; its files are ${types}.`,
    hasVideo: files.some(({ isVideo }) => isVideo),
  };
}
