import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { exchangeRoutes } from '../src/http/routes.ts';
import { reasonCodes } from '../src/resolutions/choose-route.ts';

const document = readFileSync(path.join(import.meta.dirname, '../../../docs/hosting-exchange.md'), 'utf8');
/** The text behind a heading, up to the next one. */
const sectionOf = (heading: string) => document.split(`# ${heading}\n`)[1]!.split(/^#+ /m)[0]!;

test('docs/hosting-exchange.md says what each reason code of a resolution means', () => {
  const documented = [...sectionOf('Resolutions').matchAll(/^\| `([a-z_]+)` /gm)].map(([, code]) => code!);
  expect(documented.toSorted()).toEqual(reasonCodes.toSorted());
});

test('docs/hosting-exchange.md lists every request', () => {
  const listed = sectionOf('Requests').replaceAll(/`(\/[^`]*)`/g, '`GET /workspaces/{ws}$1`');
  const shape = (text: string) => text.replaceAll(/\{[^}]*\}/g, '{}');
  const missing = exchangeRoutes.filter(({ method, path: at }) => !shape(listed).includes(`${method} ${shape(at)}\``));
  expect(missing.map(({ method, path: at }) => `${method} ${at}`)).toEqual([]);
});
