import { compileMessage } from '@lingui/message-utils/compileMessage';
import type { Plugin } from 'vite';

/** Compiles the texts in `messages` (ICU by key) to what `@lingui/core` reads, so that no parser is sent to browsers. */
export function compileMessages(): Plugin {
  return {
    name: 'longwave:compile-messages',
    enforce: 'pre',
    transform: {
      filter: { id: /\/src\/messages\/(?:[a-z]+\/)?[a-z]+\.json$/ },
      handler: (code) => {
        const messages = JSON.parse(code) as Record<string, string>;
        const compiled = Object.entries(messages).map(([key, text]) => [key, compileMessage(text)]);
        return { code: JSON.stringify(Object.fromEntries(compiled)), map: null };
      },
    },
  };
}
