import type { Messages } from '@lingui/core';
import { useTexts, type Language } from './messages.ts';

/** Each language is a file of its own: a browser loads one. `vite/compile-messages.ts` compiles what is imported. */
const files: Readonly<Record<Language, () => Promise<{ readonly default: unknown }>>> = {
  en: () => import('./en.json'),
  de: () => import('./de.json'),
};

/** Loads the texts of a language and uses them. */
export async function loadTexts(language: Language): Promise<void> {
  const { default: texts } = await files[language]();
  document.documentElement.lang = language;
  useTexts(language, texts as Messages);
}
