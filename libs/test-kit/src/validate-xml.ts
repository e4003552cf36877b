import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { librariesBeside } from './debian-program.ts';

/**
 * What xmllint (`TEST_XMLLINT`) says of documents: their names, each with `fails to validate` or `validates`.
 * @param schema the path of an XSD
 */
export async function validateXml(schema: string, documents: readonly string[]): Promise<readonly string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'xml-'));
  try {
    const files = documents.map((_, index) => path.join(folder, `${index}.xml`));
    await Promise.all(files.map((file, index) => writeFile(file, documents[index]!)));
    const args = ['--nonet', '--noout', '--schema', schema, ...files];
    const program = process.env['TEST_XMLLINT']!;
    const env = { LD_LIBRARY_PATH: librariesBeside(program) };
    const { stderr } = await promisify(execFile)(program, args, { env }).catch(
      // Its exit status says that one is not valid; that each has a verdict is what tests ask.
      (error: { readonly stderr: string }) => error,
    );
    return stderr.split('\n').filter((line) => /validates|fails to validate/.test(line));
  } finally {
    await rm(folder, { recursive: true });
  }
}
