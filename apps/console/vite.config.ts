import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { documentText } from './web/src/text/document.ts';

/** Fills in the `{{words}}` of `index.html`. */
const words: Plugin = {
  name: 'words',
  transformIndexHtml: {
    order: 'pre',
    handler: (html) =>
      html.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
        const word = documentText[name];
        if (word === undefined) throw new Error(`text/document.ts has no ${name}`);
        return word.replaceAll(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
      }),
  },
};

/** The pages. A service that runs from sources serves `web/dist`, and a bundle the copy in `dist/web`. */
export default defineConfig({
  root: fileURLToPath(new URL('web', import.meta.url)),
  plugins: [react(), words],
  resolve: { conditions: ['@tollkeeper/source', 'module', 'browser', 'import', 'default'] },
  build: {
    outDir: fileURLToPath(new URL('web/dist', import.meta.url)),
    emptyOutDir: true,
    target: 'es2023',
    // The policy of the pages allows neither data: scripts nor inline scripts, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: true,
  },
  // With a running `npm start`, `npm run dev -w @tollkeeper/console` shows changes at once.
  server: {
    proxy: {
      '^/(api|w/[^/]+/api|openapi.json|docs)': {
        target: process.env['TOLLKEEPER_URL'] ?? 'http://localhost:8080',
        // The API refuses changes whose Origin is not its own Host.
        changeOrigin: false,
      },
    },
  },
});
