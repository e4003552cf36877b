import { readFileSync } from 'node:fs';
import { z } from 'zod';

const textsSchema = z.record(z.string(), z.string());

/** The values of variables, as the file of `SECRETS_FILE` has them: one JSON object of texts. Throws when it cannot be read. */
export const readSecretsFile = (file: string): Readonly<Record<string, string>> =>
  textsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
