import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { addressesOfOthers } from './vite/addresses-of-others.ts';
import { compressFiles } from './vite/compress-files.ts';
import { compileMessages } from './vite/compile-messages.ts';
import { fontLicences } from './vite/font-licences.ts';
import { themeScript } from './vite/theme-script.ts';

/** The fleet that `vite dev` asks: the base URL of a running `npm start`. */
const baseUrl = process.env['BASE_URL'] ?? 'http://localhost:3000';

/** What every page needs, as few files that change seldom. Heavy parts have a folder of their own below `parts` and stay out. */
const groups = [
  {
    name: 'vendor',
    test: /\0rolldown|\/node_modules\/(react|react-dom|scheduler|use-sync-external-store|@tanstack|@lingui|openapi-fetch|lucide-react|seroval[^/]*|cookie-es)\//,
  },
  { name: 'parts', test: /\/(web\/src(\/(parts|api|shell|look|messages))?|auth-server\/look)\/[^/]+\.(tsx?|css)$/ },
];

export default defineConfig({
  plugins: [react(), compileMessages(), themeScript(), fontLicences(), compressFiles()],
  build: {
    target: ['chrome128', 'firefox130', 'safari18'],
    outDir: 'dist',
    emptyOutDir: true,
    manifest: true,
    // The texts that licences of bundled packages ask to keep with copies of them.
    license: { fileName: 'licences.md' },
    sourcemap: false,
    // The policy of the pages lets no `data:` address load.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups } } },
    reportCompressedSize: false,
  },
  css: { modules: { generateScopedName: '[local]_[hash:base64:5]' } },
  server: { proxy: Object.fromEntries(addressesOfOthers.map((prefix) => [prefix, baseUrl])) },
});
