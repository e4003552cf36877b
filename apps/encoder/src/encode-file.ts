/** Encodes one local file as a production would: node apps/encoder/src/encode-file.ts INPUT OUTPUT [TARGET_LUFS]. Prints the result as JSON. */
import { enableCompileCache } from 'node:module';

// Modules that are imported from here on are compiled at the first start only.
enableCompileCache();
const { encodeAudio } = await import('./media/encode-audio.ts');

const [inputPath, outputPath, targetLufs = '-16'] = process.argv.slice(2);
if (!inputPath || !outputPath) {
  console.error('usage: node apps/encoder/src/encode-file.ts INPUT OUTPUT [TARGET_LUFS]');
  process.exit(64);
}
const { waveform: _waveform, ...made } = await encodeAudio({ inputPath, outputPath, targetLufs: Number(targetLufs) });
console.log(JSON.stringify(made));
