import { expect, test } from '@jest/globals';
import { formatOf, isLanguage, languageIn } from './transcripts.ts';

test('the name of a file says its format, and its language where it has one', () => {
  expect(['lamp.de.vtt', 'Lamp.SRT', 'lamp_pt-BR.json', 'lamp.txt', 'lamp'].map(formatOf)).toEqual([
    'vtt',
    'srt',
    'json',
    undefined,
    undefined,
  ]);
  expect(['lamp.de.vtt', 'lamp_pt-BR.json', 'the lamp.vtt'].map(languageIn)).toEqual(['de', 'pt-BR', undefined]);
  expect(['de', 'pt-BR', 'zh-Hant-TW', '', 'german!'].map(isLanguage)).toEqual([true, true, true, false, false]);
});
