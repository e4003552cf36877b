/**
 * xmllint judges what is answered by a schema of our bounds; with TEST_IAB_VAST, a folder that holds `vast_4.2.xsd` of IAB Tech Lab, by that one too.
 */
import path from 'node:path';
import { expect } from '@jest/globals';
import fc from 'fast-check';
import { validateXml } from '@longwave/test-kit/validate-xml';
import { withPrograms } from '@longwave/test-kit/with-programs';
import { renderVast } from '../src/index.ts';
import { answerOf, anyAnswer, audioAd, videoAd } from './_answers.ts';

const bounds = path.join(import.meta.dirname, 'bounded-vast.xsd');
const iab = process.env['TEST_IAB_VAST'];
const schemas = [bounds, ...(iab ? [path.join(iab, 'vast_4.2.xsd')] : [])];

withPrograms('TEST_XMLLINT')('any answer within the bounds is valid by the schema', async () => {
  const samples = fc.sample(anyAnswer, { numRuns: 100, seed: 42 }).map(renderVast);
  const documents = [answerOf(), answerOf(audioAd), answerOf(audioAd, videoAd)].map(renderVast).concat(samples);
  for (const schema of schemas) {
    const verdicts = await validateXml(schema, documents);
    expect(verdicts).toHaveLength(documents.length);
    expect(verdicts.filter((line) => !line.endsWith(' validates'))).toEqual([]);
  }
});

withPrograms('TEST_XMLLINT')('the schema finds another order, more elements and macros', async () => {
  const document = renderVast(answerOf(audioAd));
  const duration = '<Duration>00:00:10.816</Duration>';
  const mutations = [
    document.replace('<AdServingId>', '<Pricing model="CPM" currency="EUR">9</Pricing>\n<AdServingId>'),
    document.replace(duration, '').replace('<TrackingEvents>', `${duration}<TrackingEvents>`),
    document.replace('?e=error', '?e=[ERRORCODE] '),
    document.replace('<Expires>86400</Expires>', '<Expires>86401</Expires>'),
    document.replace('</InLine>', '<Extensions/></InLine>'),
    document.replace('<Creatives>', '<Category authority="https://a.example">A</Category><Creatives>'),
  ];
  for (const mutation of mutations) expect(mutation).not.toBe(document);
  const verdicts = await validateXml(bounds, mutations);
  expect(verdicts.filter((line) => line.endsWith(' fails to validate'))).toHaveLength(mutations.length);
});
