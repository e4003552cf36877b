import { grants } from './grants.ts';
import { uploadIdOf } from './plan-upload.ts';
import { sendFile } from './send-file.ts';
import { browserConditions, whileSomebodyWaits } from './tries.ts';

/**
 * Sends a picture, an ad, an intro or an outro on the way that recordings go, and answers the address under which it is taken. It is not on the list of
 * uploads: such a file is small, and choosing it again is no loss.
 * @param target what it is for: the same file for the same target is sent once
 * @param onProgress gets the bytes that have gone
 * @throws ApiProblem, StoreFault, FileChanged; the signal's reason after an abort
 */
export async function sendMedia(
  file: File,
  target: 'artwork' | 'ad' | 'template',
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (sent: number) => void },
): Promise<string> {
  const { name, size, lastModified } = file;
  const id = await uploadIdOf(file, target);
  const upload = { id, target, group: '', name, size, lastModified, publish: false, round: 0, etags: {} };
  const ways = { grants, conditions: browserConditions, patience: whileSomebodyWaits };
  const sending = { ...ways, save: async () => undefined, onProgress, signal };
  return (await sendFile(file, { ...upload, isSent: false }, sending)).grant!.file_url;
}
