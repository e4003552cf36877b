import { grants } from './grants.ts';
import { uploadIdOf } from './plan-upload.ts';
import { sendFile } from './send-file.ts';
import { browserConditions, whileSomebodyWaits } from './tries.ts';

/**
 * Sends a picture on the way that recordings go, and answers the address under which a podcast or an episode takes it. It is not on the list of
 * uploads: a picture is small, and choosing it again is no loss.
 * @param onProgress gets the bytes that have gone
 * @throws ApiProblem, StoreFault, FileChanged; the signal's reason after an abort
 */
export async function sendPicture(
  file: File,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (sent: number) => void },
): Promise<string> {
  const { name, size, lastModified } = file;
  const id = await uploadIdOf(file, 'artwork');
  const upload = { id, target: 'artwork', group: '', name, size, lastModified, publish: false, round: 0, etags: {} };
  const ways = { grants, conditions: browserConditions, patience: whileSomebodyWaits };
  const sending = { ...ways, save: async () => undefined, onProgress, signal };
  return (await sendFile(file, { ...upload, isSent: false }, sending)).grant!.file_url;
}
