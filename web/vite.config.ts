import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { noServerCode } from './build/no-server-code.ts'
import { precompress } from './build/precompress.ts'
import { dropUnusedColors } from './build/unused-colors.ts'

const SERVER = process.env.TAGWARDEN_URL ?? 'http://127.0.0.1:8080'

/** `vite build web` makes what the server serves; `vite web` is for working on it, beside a running Tagwarden. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), noServerCode(), dropUnusedColors(), precompress()],
  build: {
    outDir: join(import.meta.dirname, 'dist'),
    emptyOutDir: true,
    // A file inlined as a data: address would need a hole in the Content-Security-Policy.
    assetsInlineLimit: 0,
    // The polyfill is an inline script, which the policy forbids, for browsers that we do not aim at.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // What the program begins with is one file, and so is what many other pages share: seventy of a few hundred bytes each kept a first
        // visit waiting for half a second, and one for both brought what only forms and charts need.
        codeSplitting: {
          groups: [
            { name: 'first', tags: ['$initial'], priority: 1 },
            { name: 'shared', minShareCount: 5 },
          ],
        },
      },
    },
    manifest: true,
    // Whose work is in it, with the texts of their licences: the package hands both on.
    license: { fileName: '.vite/licences.json' },
  },
  server: { proxy: { '/api': SERVER } },
})
