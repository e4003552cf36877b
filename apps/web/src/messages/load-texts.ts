import type { Messages } from '@lingui/core';
import type { Language } from './messages.ts';

/** The compiled texts of a language. */
export interface Texts {
  readonly language: Language;
  readonly texts: Messages;
}

/** Each language is a file of its own: a browser loads one. `vite/compile-messages.ts` compiles what is imported. */
const files: Readonly<Record<Language, () => Promise<{ readonly default: unknown }>>> = {
  en: () => import('./en.json'),
  de: () => import('./de.json'),
};

/** Loads the texts of a language. */
export async function fetchTexts(language: Language): Promise<Texts> {
  const { default: texts } = await files[language]();
  return { language, texts: texts as Messages };
}
